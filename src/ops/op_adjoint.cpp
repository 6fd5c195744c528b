// op_adjoint.cpp: gradients of calls. Interface: op_adjoint.h.
#include "ops/op_adjoint.h"

#include "base/error.h"
#include "base/memo.h"
#include "nest/adjoint.h"
#include "nest/partial_sums.h"

namespace lathe::ops {
namespace {

/// Returns for each tensor of a call's nest its place among the call's operands and outputs.
std::vector<size_t> places_of(const Call& of, const Nest& nest) {
  std::vector<size_t> result(nest.tensors().size(), 0);
  size_t operand = 0, output = of.inputs();
  auto is_there = [&](size_t i) { return of.has(i) && count_of(of.shape(i)) > 0; };
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    Role role = nest.tensors()[t].role;
    if (role == Role::output) result[t] = output++;
    if (role != Role::input && role != Role::weight) continue;
    while (operand < of.inputs() && !is_there(operand)) ++operand;
    check(operand < of.inputs(), "a nest reads the operands of its call");
    result[t] = operand++;
  }
  return result;
}

}  // namespace

std::vector<std::optional<Operand>> adjoint_operands(const Call& of) {
  std::vector<std::optional<Operand>> result;
  for (size_t i = 0; i < of.inputs(); ++i) {
    result.push_back(of.has(i) ? std::optional(of.operand(i)) : std::nullopt);
  }
  for (int times = 0; times < 2; ++times) {
    for (const Type& type : infer(of)) result.push_back(Operand{type, false});
  }
  return result;
}

std::shared_ptr<const Differentiated> differentiated(const Call& adjoint) {
  // Gradients of gradients hold texts in texts, and a graph the same many times: each is read once.
  static Memo<Differentiated> memo;
  const std::string& text = adjoint.text("of");
  return memo.of(text, [&] {
    Call of = parse_call(text);
    std::vector<std::optional<Operand>> operands = adjoint_operands(of);
    return Differentiated{std::move(of), std::move(operands)};
  });
}

std::optional<CallAdjoint> make_adjoint(isl::ctx ctx, const Call& of, size_t by) {
  if (!reads_are_known(of)) fail("{} has no gradient: data decide what it reads", of.name());
  Nest nest = nest_of(ctx, of);
  std::vector<size_t> places = places_of(of, nest);
  std::optional<size_t> tensor;
  for (size_t t = 0; t < places.size(); ++t) {
    Role role = nest.tensors()[t].role;
    if ((role == Role::input || role == Role::weight) && places[t] == by) tensor = t;
  }
  if (!tensor) fail("{} has no gradient by operand {}", of.name(), by);
  auto made = adjoint_of(nest, *tensor);
  if (!made) return std::nullopt;
  size_t outputs = infer(of).size();
  CallAdjoint result{with_partial_sums(made->nest),
                     std::vector<bool>(of.inputs() + 2 * outputs, false)};
  for (size_t t : made->values) result.reads[places[t]] = true;
  for (size_t t : made->gradients) result.reads[places[t] + outputs] = true;
  return result;
}

}  // namespace lathe::ops
