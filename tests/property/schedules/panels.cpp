// Layers of bytes, of random sizes and however their channels lie, in the registers of a matrix
// unit: kernels compute what the interpreter does. Where this machine has no such unit, that they
// can be compiled is all that is tested.
#include <gtest/gtest.h>

#include <iostream>

#include "compile/node.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

/// Writes a layer: mostly with numbers of channels of which several make a row of a panel.
std::string draw_layer(Random& random) {
  auto channels = [&] {
    return random.chance(80) ? 16 * random.between(1, 6) : 4 * random.between(1, 12);
  };
  long kernel = random.pick(std::vector<long>{1, 1, 3, 3, 5}), pad = random.between(0, kernel / 2);
  long groups = random.chance(25) ? random.between(2, 4) : 1, stride = random.between(1, 2);
  long ci = channels(), co = channels(), rows = random.between(1, 7),
       columns = random.between(1, 40);
  std::string data = random.pick({"i8", "u8"}), weights = random.pick({"i8", "i8", "u8"});
  return fmt::format(
      "fused({}[1x{}x{}x{}], weight {}[{}x{}x{}x{}], weight i32[{}], calls=[\"conv(%0, %1, %2, "
      "groups={}, pads=[{}, {}, {}, {}], strides=[{}, {}], to=\\\"i32\\\")\", \"relu(#0)\"])",
      data, groups * ci, rows + kernel, columns + kernel, weights, groups * co, ci, kernel, kernel,
      groups * co, groups, pad, pad, pad, pad, stride, stride);
}

/// Returns a target that has all that panels need: this machine, if it does.
Target target_with_panels() {
  Target here = native_target();
  return here.architecture == Architecture::x86_64 && here.has(Extra::i8_matrix)
             ? here
             : target_named("x86-64-v4+f16+dot+i8mm+bf16");
}

TEST(Panels, ComputeWhatTheInterpreterDoes) {
  Target target = target_with_panels();
  bool runs = target.name == native_target().name && native_target().has(Extra::i8_matrix);
  long panels = 0, all = 0;
  constexpr long cases_together = 5, batches = 8;
  for_each_case(batches, [&](Case& trial) {
    Compilation compilation(target);
    for (long i = 0; i < cases_together; ++i) {
      std::string text = draw_layer(trial.random);
      Context ctx;
      Nest nest = parse_op(ctx, text);
      long block = trial.random.pick(std::vector<long>{16, 32, 64, 1});
      NodeCode code = lower_node(nest, blocked_layouts(nest, block), target);
      ++all;
      panels += code.schedule == "panels" ? 1 : 0;
      CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, {}, ""};
      c.story = fmt::format("{}\n{}: {}\n", text, code.schedule, code.recipe);
      c.wanted = interpreted(nest);
      compilation.add(std::move(c));
    }
    if (runs) {
      compilation.run(trial.random);
    } else {
      EXPECT_FALSE(compilation.object().empty());
    }
  });
  std::cout << fmt::format("{} of {} layers in panels{}\n", panels, all,
                           runs ? "" : ", compiled alone: this machine has no such unit");
  bool whole = environment("LATHE_CASE", -1) < 0 && environment("LATHE_CASES", batches) >= batches;
  if (whole) {
    EXPECT_GE(panels, all / 2);
  }
}

}  // namespace
}  // namespace lathe::test
