// fused.cpp: several operators computed as one nest.
//
//   fused(x, w, b, r, calls=["conv(%0, %1, %2)", "add(#0, %3)", "relu(#1)"])
//
// %i is operand i, #j the output of call j; the last call's output is that of the operator. The
// results in between are local tensors of the nest.
#include "ops/op_fused.h"

namespace lathe::ops {

Op fused() {
  return {.name = "fused",
          .summary = "several operators computed as one nest",
          .examples =
              {"fused(f32[1x2x5x4], weight f32[4x2x3x3], weight f32[4], f32[1x4x5x4], "
               "calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1])\", \"add(#0, %3)\", \"relu(#1)\"])",
               "fused(f32[2x3x4x2], f32[3x1x1], f32[3x1x1], "
               "calls=[\"mul(%0, %1)\", \"add(#0, %2)\", \"relu(#1)\"])",
               "fused(f32[2x4x3x3], weight f32[4x2x3x3], "
               "calls=[\"conv(%0, %1, groups=2, pads=[1, 1, 1, 1])\", \"add(%0, #0)\"])",
               "fused(f32[2x3], weight f32[4x3], weight f32[4], "
               "calls=[\"fully_connected(%0, %1, %2)\", \"clip(#0, max=1.0)\"])"},
          .graph = {.least = 1,
                    .most = any_number,
                    .settings = {{"calls", std::vector<std::string>{},
                                  "in sequence; %0 is an operand, #0 the output of a call",
                                  Setting::Need::required}},
                    .infer = [](const Call& call) -> std::vector<Type> {
                      return {parts_of(call).back().result};
                    },
                    .nest = [](isl::ctx ctx,
                               const Call& call) { return composed(ctx, call, parts_of(call)); }}};
}

}  // namespace lathe::ops
