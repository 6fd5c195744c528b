// Writes statements that replace another one: their coordinates are some of its own, and new ones.
//
//   Frame f(old, {0, 1}, {{"u", 6}});          // old's first two coordinates, and u < 6
//   f.statement("rows", f.access(T, joined({f["u"]}, f.kept())), {...});
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// The coordinates of a statement that is being written: some of the old one's, and new ones.
class Frame {
 public:
  using Extents = std::vector<std::pair<std::string, long>>;

  Frame(const Statement& old, const std::vector<size_t>& kept, const Extents& extents);

  const isl::set& domain() const { return domain_; }
  /// Returns a coordinate by name.
  isl::aff operator[](const std::string& name) const;
  /// Returns the coordinates that were kept.
  std::vector<isl::aff> kept() const;
  /// Returns an index of the old statement, of coordinates that were kept.
  isl::aff old(const isl::aff& index) const { return index.pullback(old_); }

  /// Leaves out where an index reaches a bound.
  void where_less(const isl::aff& index, long bound);

  Access access(size_t tensor, const std::vector<isl::aff>& at) const {
    return {tensor, poly::tuple(domain_.space(), at)};
  }
  /// Returns a statement that adds the product of all reads.
  Statement statement(std::string name, Access write, std::vector<Access> reads) const;

 private:
  std::vector<size_t> kept_;
  std::vector<std::string> dims_;
  isl::set domain_;
  isl::multi_aff old_;
};

/// Returns the functions of both lists.
std::vector<isl::aff> joined(std::vector<isl::aff> a, const std::vector<isl::aff>& b);

}  // namespace lathe
