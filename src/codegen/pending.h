// Sums of multiples wait until they are complete. Then parts that several of them share are written
// once.
//
//   y1 = -4*x1 - 4*x2 + x3 + x4            e = x4 - 4*x2,  o = x3 - 4*x1
//   y2 =  4*x1 - 4*x2 - x3 + x4            y1 = e + o,     y2 = e - o
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace lathe {

class PendingSums {
 public:
  /// Writes code for  base + factor * value, or for  factor * value; returns its variable.
  using Plus = std::function<size_t(std::optional<size_t> base, double factor, size_t value)>;

  /// Says that a variable is 0: multiples that are added to it may wait.
  void begin(size_t variable) { sums_[variable].clear(); }
  bool has(size_t variable) const { return sums_.contains(variable); }
  void add(size_t variable, double factor, size_t value);
  /// Forgets what was to be added.
  void drop(size_t variable) { sums_.erase(variable); }

  /// Writes what was added to a variable, and returns it; nothing if that is still 0. The variable
  /// is no longer waiting.
  std::optional<size_t> settle(size_t variable, const Plus& plus);
  /// Returns one of the variables that wait, if any.
  std::optional<size_t> next() const;
  /// Forgets the common parts that were written: they are not there in the code that follows.
  void forget_common() { common_.clear(); }

 private:
  /// Multiples by the variable that they are of.
  using Sum = std::map<size_t, double>;
  std::map<size_t, Sum> sums_;
  /// The variables of  a + ratio * b.
  std::map<std::tuple<size_t, size_t, double>, size_t> common_;

  bool take_common(Sum& sum, size_t variable, const Plus& plus);
};

}  // namespace lathe
