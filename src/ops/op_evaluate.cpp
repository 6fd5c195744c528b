// op_evaluate.cpp: operators on arrays. Interface: op_evaluate.h, evaluate() of op.h.
#include "ops/op_evaluate.h"

#include <algorithm>

#include "base/error.h"
#include "nest/interpret.h"

namespace lathe {
namespace {

/// Returns the coordinate along which most accesses stay or move by one element; of several, the
/// longest.
size_t along_memory(const Statement& s, const std::vector<Tensor>& tensors,
                    const std::vector<long>& extents) {
  std::vector<long> near(extents.size(), 0);
  auto count = [&](const Access& access) {
    isl::aff offset = row_major(access.at, tensors[access.tensor]);
    std::vector<long> steps = poly::take_apart(offset).coefficients;
    for (size_t i = 0; i < near.size(); ++i) near[i] += std::abs(steps[i]) <= 1 ? 1 : 0;
  };
  count(s.write);
  for (const Access& access : s.reads) count(access);
  size_t best = 0;
  for (size_t i = 1; i < near.size(); ++i) {
    if (std::pair(near[i], extents[i]) >= std::pair(near[best], extents[best])) best = i;
  }
  return best;
}

/// Moves the best loop of every sum and maximum inwards: their updates commute.
Nest along_rows(const Nest& nest) {
  std::vector<Order> order = nest.order;
  for (size_t i = 0; i < order.size(); ++i) {
    const Statement& s = nest.statements()[i];
    if (s.update == Update::assign || s.dims.size() < 2) continue;
    Order plain = plain_order(s, order[i].at);
    size_t best = along_memory(s, nest.tensors(), extents(plain));
    std::rotate(plain.loops.begin() + static_cast<long>(best),
                plain.loops.begin() + static_cast<long>(best) + 1, plain.loops.end());
    auto instance = inverse(s, plain.loops);
    if (!instance) continue;
    plain.instance = *instance;
    order[i] = plain;
  }
  return {nest.name, nest.meaning, order};
}

template <class T>
std::vector<T> elements_of(const Array& array) {
  if constexpr (std::is_integral_v<T>) {
    return array.integers();
  } else {
    return array.reals();
  }
}

/// Copies the elements of an array into the middle of a padded tensor.
template <class T>
void copy_in(const std::vector<T>& from, const Tensor& tensor, std::vector<T>& to) {
  size_t rank = tensor.shape.size();
  Shape inner = inner_shape(tensor), index(rank, 0);
  long row = inner.back();
  for (size_t at = 0; at < from.size(); at += static_cast<size_t>(row)) {
    long offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      offset = offset * tensor.shape[i] + tensor.pad[i].before + index[i];
    }
    std::copy_n(from.begin() + static_cast<long>(at), row, to.begin() + offset);
    for (size_t i = rank - 1; i-- > 0;) {
      if (++index[i] < inner[i]) break;
      index[i] = 0;
    }
  }
}

template <class T>
void fill(const Tensor& tensor, const Array& array, std::vector<T>& buffer) {
  std::vector<T> elements = elements_of<T>(array);
  if (elements.size() == buffer.size()) {
    buffer = std::move(elements);
  } else {
    copy_in(elements, tensor, buffer);
  }
}

template <class T>
std::vector<Array> run(const Nest& nest, const std::vector<Array>& inputs,
                       const std::vector<Type>& outputs) {
  Buffers<T> buffers = make_buffers<T>(nest);
  // An empty operand has no tensor, or one that is nothing but padding.
  std::vector<const Array*> operands;
  for (const Array& input : inputs) {
    if (input.count() > 0) operands.push_back(&input);
  }
  size_t next = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    bool is_operand = tensor.role == Role::input || tensor.role == Role::weight;
    if (!is_operand || count_of(inner_shape(tensor)) == 0) continue;
    check(next < operands.size(), "a nest reads the operands of its call");
    fill(tensor, *operands[next++], buffers[t]);
  }
  check(next == operands.size(), "a nest reads all operands of its call");
  interpret(nest, buffers);
  std::vector<Array> results;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (nest.tensors()[t].role != Role::output) continue;
    const Type& type = outputs.at(results.size());
    if constexpr (std::is_integral_v<T>) {
      results.push_back(Array::of_integers(type.element, type.shape, buffers[t]));
    } else {
      results.push_back(Array::of_reals(type.element, type.shape, buffers[t]));
    }
    buffers[t] = {};
  }
  return results;
}

/// Does the call have an empty operand, and an operator that knows what becomes of it?
bool is_of_nothing(const Call& call) {
  if (call.op().graph.of_nothing == nullptr) return false;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && count_of(call.shape(i)) == 0) return true;
  }
  return false;
}

bool has_empty_outputs(const std::vector<Type>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Type& type) { return !type.dynamic && count_of(type.shape) == 0; });
}

}  // namespace

std::optional<Nest> executable(isl::ctx ctx, const Call& call) {
  if (call.op().graph.run != nullptr || is_of_nothing(call)) return std::nullopt;
  if (has_empty_outputs(infer(call))) return std::nullopt;
  return along_rows(nest_of(ctx, call));
}

std::vector<Array> run_nest(const Nest& nest, const std::vector<Array>& inputs,
                            const std::vector<Type>& outputs) {
  bool integral = std::all_of(nest.tensors().begin(), nest.tensors().end(),
                              [](const Tensor& t) { return is_integral(t.element); });
  return integral ? run<long>(nest, inputs, outputs) : run<double>(nest, inputs, outputs);
}

std::vector<Array> evaluate(isl::ctx ctx, const Call& call, const std::vector<Array>& inputs) {
  if (call.op().graph.run != nullptr) return call.op().graph.run(call, inputs);
  std::vector<Type> outputs = infer(call);
  if (has_empty_outputs(outputs)) {
    std::vector<Array> results;
    for (const Type& type : outputs) results.emplace_back(type.element, type.shape);
    return results;
  }
  if (is_of_nothing(call)) return call.op().graph.of_nothing(call);
  return run_nest(*executable(ctx, call), inputs, outputs);
}

}  // namespace lathe
