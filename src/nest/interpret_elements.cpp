// interpret_elements.cpp: elements on demand. Interface: interpret_elements.h.
//
// The coordinates of the instances that write an element are found one by one: an index of the
// write with one unknown left is solved for it; others are tried, and given up as soon as bounds
// show that the index cannot be met. What the element does not determine is summed over.
#include "nest/interpret_elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "nest/dependence.h"
#include "nest/interpret.h"
#include "nest/interpret_numbers.h"
#include "poly/linear.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Functions of the C library, and those that stand for them in kernels, round more than once.
constexpr double roundings_of_functions = 64;

bool is_arithmetic(Expr::Op op) {
  switch (op) {
    case Expr::Op::neg:
    case Expr::Op::abs:
    case Expr::Op::add:
    case Expr::Op::sub:
    case Expr::Op::mul:
    case Expr::Op::div:
    case Expr::Op::max:
    case Expr::Op::min:
    case Expr::Op::single:
      return true;
    default:
      return false;
  }
}

/// Returns how far a function moves when its arguments move by their errors, to either side.
double moved(Expr::Op op, const Rounded<double>* args, size_t arity, double value) {
  double most = 0;
  for (unsigned corner = 0; corner < 1U << arity; ++corner) {
    double at[3] = {};
    for (size_t k = 0; k < arity; ++k) {
      at[k] = args[k].value + ((corner >> k & 1U) != 0 ? args[k].error : -args[k].error);
    }
    double other = evaluate(op, at);
    if (other == value || (std::isnan(other) && std::isnan(value))) continue;
    double distance = std::abs(other - value);
    most = std::isfinite(distance) ? std::max(most, distance) : infinity;
  }
  return most;
}

double error_of(Expr::Op op, const Rounded<double>* args, size_t arity, double value, double unit) {
  const Rounded<double>&a = args[0], &b = args[1];
  double own = unit * std::abs(value) * (is_arithmetic(op) ? 1 : roundings_of_functions);
  if (!std::isfinite(own)) own = 0;
  switch (op) {
    case Expr::Op::add:
    case Expr::Op::sub:
      return a.error + b.error + own;
    case Expr::Op::mul:
      return std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error + own;
    case Expr::Op::div:
      if (b.error > 0 && std::abs(b.value) <= b.error) return infinity;
      return moved(op, args, arity, value) + own;
    default:
      return moved(op, args, arity, value) + own;
  }
}

long error_of(Expr::Op /*op*/, const Rounded<long>* /*args*/, size_t /*arity*/, long /*value*/,
              double /*unit*/) {
  return 0;
}

std::vector<long> index_of(const Tensor& tensor, long number) {
  std::vector<long> index(tensor.shape.size());
  for (size_t i = index.size(); i-- > 0; number /= tensor.shape[i]) {
    index[i] = number % tensor.shape[i];
  }
  return index;
}

}  // namespace

template <class T>
struct ElementInterpreter<T>::Sum {
  bool written = false, assigned_now = false;
  T value = 0;
  double errors = 0;      ///< of what was added
  double magnitudes = 0;  ///< the sum of all absolute values
  double terms = 0;
  double start = 0;      ///< the absolute value of what others were added to
  double swallowed = 0;  ///< by rounding, of terms so small that it always cuts them the same way

  void add(Update update, const Rounded<T>& term, double unit) {
    written = true;
    switch (update) {
      case Update::assign:
        if (assigned_now) fail("several instances assign one element");
        assigned_now = true;
        value = term.value;
        errors = term.error;
        magnitudes = terms = swallowed = 0;
        start = std::abs(static_cast<double>(value));
        return;
      case Update::add: {
        double size = std::abs(static_cast<double>(term.value));
        double rounding = unit * std::abs(static_cast<double>(value));
        constexpr double few = 16;  // roundings: of a larger term, what is cut is as good as random
        if (size < few * rounding) swallowed += std::min(size, rounding);
        value += term.value;
        errors += term.error;
        magnitudes += size;
        terms += 1;
        return;
      }
      case Update::maximum:
        value = larger(value, term.value);
        errors = std::max(errors, term.error);
        return;
    }
  }

  /// The errors of single additions are as good as random: their sum grows like the root of their
  /// number. The constants are for short sums, and for what is all of one sign.
  double error(double unit) const {
    double all = terms > 0 ? start + magnitudes : 0;
    return errors + swallowed + unit * all * (4 + std::sqrt(terms));
  }
};

template <class T>
ElementInterpreter<T>::ElementInterpreter(const Nest& nest, Read read, double unit)
    : nest_(nest), read_(std::move(read)), unit_(unit), writers_(nest.tensors().size()) {
  for (const Dependence& each : find_dependences(nest.statements(), nest.order).ordered) {
    if (each.kind != Dependence::Kind::anti) continue;
    fail("an instance reads what a later one overwrites");
  }
  for (size_t s : sequence(nest.order)) {
    writers_[nest.statements()[s].write.tensor].push_back(writer_of(s));
  }
}

template <class T>
typename ElementInterpreter<T>::Writer ElementInterpreter<T>::writer_of(size_t statement) const {
  const Statement& s = nest_.statements()[statement];
  Writer writer;
  writer.statement = statement;
  isl::set domain = poly::boxed(s.domain);
  size_t arity = s.dims.size();
  auto sides = poly::sides(domain);
  writer.guarded = !sides;
  if (writer.guarded) writer.guard = poly::constraints(domain);
  for (size_t i = 0; i < arity; ++i) {
    writer.ranges.push_back(sides ? (*sides)[i] : poly::range(domain, i));
  }
  for (const isl::aff& part : poly::parts(s.write.at)) {
    writer.write.push_back(poly::take_apart(part));
    writer.involved.push_back(poly::involved(writer.write.back()));
  }
  for (const Access& access : s.reads) {
    writer.reads.push_back(poly::take_apart(row_major(access.at, nest_.tensors()[access.tensor])));
  }
  auto is_written = [&](size_t c) {
    return std::any_of(writer.involved.begin(), writer.involved.end(),
                       [&](const std::vector<bool>& each) { return each[c]; });
  };
  for (bool written : {true, false}) {
    for (size_t c = 0; c < arity; ++c) {
      if (is_written(c) == written) writer.order.push_back(c);
    }
  }
  std::vector<bool> set(arity, false);
  for (size_t c : writer.order) {
    set[c] = true;
    writer.solves.emplace_back();
    for (size_t i = 0; i < writer.write.size(); ++i) {
      bool last = writer.involved[i][c];
      for (size_t other = 0; other < arity; ++other) {
        last = last && (set[other] || !writer.involved[i][other]);
      }
      if (last && writer.write[i].is_linear()) writer.solves.back() = i;
    }
  }
  return writer;
}

/// Can any instance write the element? An index without coordinates is met here or nowhere.
template <class T>
bool ElementInterpreter<T>::reaches(const Writer& writer, const std::vector<long>& element) const {
  for (size_t i = 0; i < writer.write.size(); ++i) {
    poly::Interval reach = poly::bounds(writer.write[i], writer.ranges);
    if (element[i] < reach.lower || element[i] > reach.upper) return false;
  }
  return true;
}

template <class T>
bool ElementInterpreter<T>::can_write(const Writer& writer, size_t coordinate,
                                      const std::vector<long>& element,
                                      const std::vector<poly::Interval>& at) const {
  for (size_t i = 0; i < writer.write.size(); ++i) {
    if (!writer.involved[i][coordinate]) continue;
    poly::Interval reach = poly::bounds(writer.write[i], at);
    if (element[i] < reach.lower || element[i] > reach.upper) return false;
  }
  return true;
}

template <class T>
void ElementInterpreter<T>::visit(const Writer& writer, size_t place,
                                  const std::vector<long>& element, std::vector<poly::Interval>& at,
                                  Sum& sum) {
  if (place == writer.order.size()) return run(writer, at, sum);
  size_t c = writer.order[place];
  poly::Interval range = writer.ranges[c];
  if (auto index = writer.solves[place]) {
    const poly::Affine& write = writer.write[*index];
    at[c] = {0, 0};
    long rest = element[*index] - poly::bounds(write, at).lower, factor = write.coefficients[c];
    long solution = rest / factor;
    bool possible = rest % factor == 0 && solution >= range.lower && solution <= range.upper;
    range = possible ? poly::Interval{solution, solution} : poly::Interval{0, -1};
  }
  for (long x = range.lower; x <= range.upper; ++x) {
    at[c] = {x, x};
    if (can_write(writer, c, element, at)) visit(writer, place + 1, element, at, sum);
  }
  at[c] = writer.ranges[c];
}

template <class T>
void ElementInterpreter<T>::run(const Writer& writer, const std::vector<poly::Interval>& at,
                                Sum& sum) {
  std::vector<long> instance;
  for (const poly::Interval& each : at) instance.push_back(each.lower);
  if (writer.guarded && !poly::contains(writer.guard, instance)) return;
  if (++instances_ > most_instances) fail("it takes more than {} instances", most_instances);
  const Statement& s = nest_.statements()[writer.statement];
  sum.add(s.update, value_of(s.value, writer, instance), unit_);
}

template <class T>
Rounded<T> ElementInterpreter<T>::value_of(const Expr& expr, const Writer& writer,
                                           const std::vector<long>& instance) {
  if (expr.op == Expr::Op::number) return {from_double<T>(expr.number), 0};
  if (expr.op == Expr::Op::read) {
    const Statement& s = nest_.statements()[writer.statement];
    return read(s.reads[expr.read].tensor, poly::evaluate(writer.reads[expr.read], instance));
  }
  if (expr.op == Expr::Op::pick) return picked(pick_of(expr), writer, instance);
  Rounded<T> args[3];
  T values[3] = {};
  for (size_t i = 0; i < expr.args.size(); ++i) {
    args[i] = value_of(expr.args[i], writer, instance);
    values[i] = args[i].value;
  }
  T value = evaluate(expr.op, values);
  return {value, static_cast<double>(error_of(expr.op, args, expr.args.size(), value, unit_))};
}

template <class T>
Rounded<T> ElementInterpreter<T>::picked(const Pick& pick, const Writer& writer,
                                         const std::vector<long>& instance) {
  size_t tensor = nest_.statements()[writer.statement].reads[pick.read].tensor;
  long at = poly::evaluate(writer.reads[pick.read], instance);
  for (const Pick::Along& along : pick.along) {
    T index = value_of(*along.index, writer, instance).value;
    at += picked_offset(nest_.tensors()[tensor], along.dim, static_cast<long>(index));
  }
  return read(tensor, at);
}

template <class T>
Rounded<T> ElementInterpreter<T>::read(size_t tensor, long number) {
  const Tensor& from = nest_.tensors()[tensor];
  bool given = writers_[tensor].empty() && from.role != Role::local && from.role != Role::output;
  if (given) return {read_(tensor, number), 0};
  if (auto value = element(tensor, number)) return *value;
  return {start_of(tensor), 0};
}

/// Elements that are only updated start as interpret() has it.
template <class T>
T ElementInterpreter<T>::start_of(size_t tensor) const {
  for (const Statement& s : nest_.statements()) {
    if (s.write.tensor == tensor) return s.update == Update::maximum ? lowest<T>() : T(0);
  }
  return 0;
}

template <class T>
std::optional<Rounded<T>> ElementInterpreter<T>::element(size_t tensor, long number) {
  auto found = known_.find({tensor, number});
  if (found != known_.end()) return found->second;
  Sum sum;
  sum.value = start_of(tensor);
  std::vector<long> index = index_of(nest_.tensors()[tensor], number);
  for (const Writer& writer : writers_[tensor]) {
    if (!reaches(writer, index)) continue;
    sum.assigned_now = false;
    std::vector<poly::Interval> at = writer.ranges;
    visit(writer, 0, index, at, sum);
  }
  std::optional<Rounded<T>> result;
  if (sum.written) result = Rounded<T>{sum.value, sum.error(unit_)};
  known_[{tensor, number}] = result;
  return result;
}

template class ElementInterpreter<double>;
template class ElementInterpreter<long>;

}  // namespace lathe
