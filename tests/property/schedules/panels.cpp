// Layers of bytes, bf16 and f16, of random sizes and however their channels lie, in the registers
// of a matrix unit: kernels compute what the interpreter does. Where this machine has no such unit,
// that they can be compiled is all that is tested.
#include <gtest/gtest.h>

#include <iostream>

#include "codegen/panels.h"
#include "compile/node.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

/// The element types of a layer.
struct Types {
  Element data, weights, sums;
};

const std::vector<Types> possible_types = {
    {Element::i8, Element::i8, Element::i32},     {Element::u8, Element::i8, Element::i32},
    {Element::i8, Element::u8, Element::i32},     {Element::u8, Element::u8, Element::i32},
    {Element::bf16, Element::bf16, Element::f32}, {Element::f16, Element::f16, Element::f32}};

/// A layer, and how many of its channels lie together.
struct Layer {
  std::string text;
  long block;
};

/// Draws a layer: mostly with numbers of channels of which several make a row of a panel. Blocks of
/// channels are as they are in networks: they hold whole groups, or groups hold whole blocks.
Layer draw_layer(const Types& types, Random& random) {
  auto channels = [&] {
    return random.chance(80) ? 16 * random.between(1, 6) : 4 * random.between(1, 12);
  };
  long kernel = random.pick(std::vector<long>{1, 1, 3, 3, 5}), pad = random.between(0, kernel / 2);
  long groups = random.chance(25) ? random.between(2, 4) : 1, stride = random.between(1, 2);
  long ci = channels(), co = channels(), rows = random.between(1, 7),
       columns = random.between(1, 40);
  std::vector<long> blocks{1};
  for (long block : {8, 16, 32, 64}) {
    auto fits = [&](long channels) {
      return groups * channels % block == 0 && (channels % block == 0 || block % channels == 0);
    };
    if (fits(ci) && fits(co)) blocks.push_back(block);
  }
  long block = random.chance(80) ? blocks.back() : random.pick(blocks);
  std::string text = fmt::format(
      "fused({}[1x{}x{}x{}], weight {}[{}x{}x{}x{}], weight {}[{}], calls=[\"conv(%0, %1, %2, "
      "groups={}, pads=[{}, {}, {}, {}], strides=[{}, {}], to=\\\"{}\\\")\", \"relu(#0)\"])",
      name_of(types.data), groups * ci, rows + kernel, columns + kernel, name_of(types.weights),
      groups * co, ci, kernel, kernel, name_of(types.sums), groups * co, groups, pad, pad, pad, pad,
      stride, stride, name_of(types.sums));
  return {text, block};
}

/// Does this machine have a unit for panels of these types?
bool has_panels(const Types& types) {
  return terms_of_panels(native_target(), types.data, types.weights) > 0;
}

/// Is there a product of panels in the kernels?
bool multiplies_panels(const std::vector<Code>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const Code& code) {
    return print(code).find("panel v") != std::string::npos;
  });
}

TEST(Panels, ComputeWhatTheInterpreterDoes) {
  long panels = 0, all = 0, compared = 0;
  constexpr long cases_together = 5, batches = 12;
  for_each_case(batches, [&](Case& trial) {
    Types types = trial.random.pick(possible_types);
    bool runs = has_panels(types);
    Target target =
        runs ? native_target() : target_named("x86-64-v4+f16+dot+i8mm+bf16+bf16mm+f16mm");
    Compilation compilation(target);
    for (long i = 0; i < cases_together; ++i) {
      auto [text, block] = draw_layer(types, trial.random);
      Context ctx;
      Nest nest = parse_op(ctx, text);
      // Nothing may round: the results are those on integers.
      NodeCode code = lower_node(nest, blocked_layouts(nest, block), target, Listing::none,
                                 Unset::zero, std::nullopt, 0);
      ++all;
      if (code.schedule == "panels") {
        ++panels;
        compared += runs ? 1 : 0;
        EXPECT_TRUE(multiplies_panels(code.kernels)) << text << "\n" << code.recipe;
      }
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
  std::cout << fmt::format("{} of {} layers in panels; {} of them ran on this machine\n", panels,
                           all, compared);
  bool whole = environment("LATHE_CASE", -1) < 0 && environment("LATHE_CASES", batches) >= batches;
  if (whole) {
    EXPECT_GE(panels, all / 2);
  }
}

}  // namespace
}  // namespace lathe::test
