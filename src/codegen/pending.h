// Sums of multiples. They wait until they are complete; parts that several sums share are then
// written once.
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

/// The sums that wait, by the variables that they are added to.
class PendingSums {
 public:
  /// Writes code for  base + factor * value, or for  factor * value  without a base. Returns the
  /// variable of the result.
  using Plus = std::function<size_t(std::optional<size_t> base, double factor, size_t value)>;

  /// Begins a sum: the variable is 0, and what is added to it may wait.
  void begin(size_t variable) { sums_[variable].clear(); }
  /// Does this variable wait?
  bool has(size_t variable) const { return sums_.contains(variable); }
  /// Adds a multiple of "value" to the sum of a variable.
  void add(size_t variable, double factor, size_t value);
  /// Forgets the sum of a variable.
  void drop(size_t variable) { sums_.erase(variable); }

  /// Writes the sum of a variable, and returns where it is. Returns nothing if the sum is still 0.
  /// The variable no longer waits.
  std::optional<size_t> settle(size_t variable, const Plus& plus);
  /// Returns one of the variables that wait, if any.
  std::optional<size_t> next() const;
  /// Forgets the common parts that were written. Code that follows cannot use them.
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
