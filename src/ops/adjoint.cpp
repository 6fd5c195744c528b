// adjoint.cpp: the gradient of another operator by one of its operands.
//
//   y = conv(x, w, pads=[1, 1, 1, 1])
//   dx = adjoint(_, w, _, dy, of="conv(f32[1x2x5x5], weight f32[4x2x3x3], ...)", by=0)
//
// Operands are the operator's own, then its outputs, then the gradients of its outputs; those that
// the gradient does not need are left out. Nothing is written per operator: the nest is made of the
// operator's nest (nest/adjoint.h).
#include "nest/adjoint.h"

#include "ops/op_adjoint.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_adjoint(const Call& call) {
  std::shared_ptr<const Differentiated> known = differentiated(call);
  const Call& of = known->of;
  auto by = static_cast<size_t>(call.integer("by"));
  if (call.integer("by") < 0 || !of.has(by)) {
    call.refuse("by={}: {} has no such operand", call.integer("by"), of.name());
  }
  const std::vector<std::optional<Operand>>& all = known->operands;
  if (call.inputs() > all.size()) {
    call.refuse("{} operands; there are {} values and gradients", call.inputs(), all.size());
  }
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (!all[i] || call.type(i) != all[i]->type) {
      call.refuse("operand {} is {}, but that of {} is {}", i, print_type(call.type(i)), of.name(),
                  all[i] ? print_type(all[i]->type) : "left out");
    }
  }
  return {of.type(by)};
}

Nest nest_of_adjoint_call(isl::ctx ctx, const Call& call) {
  std::shared_ptr<const Differentiated> known = differentiated(call);
  const Call& of = known->of;
  auto made = make_adjoint(ctx, of, static_cast<size_t>(call.integer("by")));
  if (!made) call.refuse("{} has no gradient by operand {}", of.name(), call.integer("by"));
  for (size_t i = 0; i < std::max(call.inputs(), made->reads.size()); ++i) {
    bool needed = i < made->reads.size() && made->reads[i];
    if (needed == call.has(i)) continue;
    call.refuse("operand {} is {}", i, needed ? "missing" : "not needed; leave it out");
  }
  Nest nest = made->nest;
  nest.name = "adjoint";
  return nest;
}

}  // namespace

Op adjoint() {
  return {.name = "adjoint",
          .summary = "gradient of another operator by one of its operands",
          .examples = {"adjoint(_, weight f32[4x2x3x3], _, f32[1x4x5x5], "
                       "of=\"conv(f32[1x2x5x5], weight f32[4x2x3x3], pads=[1, 1, 1, 1])\", by=0)",
                       "adjoint(f32[1x2x5x5], _, _, f32[1x4x3x3], "
                       "of=\"conv(f32[1x2x5x5], weight f32[4x2x3x3], pads=[1, 1, 1, 1], "
                       "strides=[2, 2])\", by=1)",
                       "adjoint(f32[1x2x5x6], f32[1x2x3x3], f32[1x2x3x3], "
                       "of=\"max_pool(f32[1x2x5x6], kernel=[3, 3], pads=[1, 1, 1, 1], "
                       "strides=[2, 2])\", by=0)",
                       "adjoint(f32[2x3], _, f32[2x3], of=\"gelu(f32[2x3])\", by=0)"},
          .graph = {.least = 0,
                    .most = any_number,
                    .settings = {{"of", std::string(), "the operator with its operands' types",
                                  Setting::Need::required},
                                 {"by", 0L, "which of them the gradient is by"}},
                    .infer = types_of_adjoint,
                    .nest = nest_of_adjoint_call}};
}

}  // namespace lathe::ops
