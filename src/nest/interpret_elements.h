// The interpreter for single elements: it runs the instances that write an element, and those that
// write what these read, and no others. So a few elements of a large nest cost little.
//
//   ElementInterpreter<double> interpreter(nest, read, 0x1p-24);
//   auto value = interpreter.element(output, 5);    the element with the row-major number 5
//   value->value, value->error                      what it is, and how far off rounding may be
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "nest/nest.h"

namespace lathe {

/// A value, and how far from it the same computation may end that rounds, in any order of sums.
template <class T>
struct Rounded {
  T value = 0;
  double error = 0;
};

template <class T>
class ElementInterpreter {
 public:
  /// Returns an element of an input, weight or constant by its row-major number, padding included.
  using Read = std::function<T(size_t tensor, long element)>;

  /// Reads a nest. "unit" is the relative change that rounding one operation makes; 0 if nothing is
  /// rounded. Fails if an instance reads what a later one overwrites: what an element is then
  /// depends on when one asks.
  ElementInterpreter(const Nest& nest, Read read, double unit);

  /// Returns an element of any tensor; nothing if no instance writes it. Fails if several instances
  /// assign it, and if it takes more than "most_instances".
  std::optional<Rounded<T>> element(size_t tensor, long number);

  static constexpr long most_instances = 20'000'000;

 private:
  /// A statement, and how its instances are found from the element that they write.
  struct Writer {
    size_t statement = 0;
    std::vector<poly::Interval> ranges;  ///< of each coordinate
    bool guarded = false;                ///< the domain is no box
    std::vector<std::vector<poly::Constraint>> guard;
    std::vector<poly::Affine> write;  ///< each index of the element
    std::vector<poly::Affine> reads;  ///< the row-major number of each element that is read
    std::vector<size_t> order;        ///< coordinates: those that the element determines first
    /// For each place in "order" the index that the coordinate there is the last unknown of.
    std::vector<std::optional<size_t>> solves;
    std::vector<std::vector<bool>> involved;  ///< [index][coordinate]
  };
  /// What updates of one element have come to.
  struct Sum;

  const Nest& nest_;
  Read read_;
  double unit_;
  long instances_ = 0;
  std::vector<std::vector<Writer>> writers_;  ///< of each tensor, in sequence
  std::map<std::pair<size_t, long>, std::optional<Rounded<T>>> known_;

  Writer writer_of(size_t statement) const;
  void visit(const Writer& writer, size_t place, const std::vector<long>& element,
             std::vector<poly::Interval>& at, Sum& sum);
  bool reaches(const Writer& writer, const std::vector<long>& element) const;
  bool can_write(const Writer& writer, size_t coordinate, const std::vector<long>& element,
                 const std::vector<poly::Interval>& at) const;
  void run(const Writer& writer, const std::vector<poly::Interval>& at, Sum& sum);
  Rounded<T> value_of(const Expr& expr, const Writer& writer, const std::vector<long>& instance);
  Rounded<T> picked(const Pick& pick, const Writer& writer, const std::vector<long>& instance);
  Rounded<T> read(size_t tensor, long number);
  T start_of(size_t tensor) const;
};

}  // namespace lathe
