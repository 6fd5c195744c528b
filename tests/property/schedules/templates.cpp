// What the templates write: for every operator's examples and for layers as networks have them,
// with tensors stored as the passes store them or at random, the recipe is accepted step by step,
// the kernels compute what the interpreter does, and every target can be compiled for.
#include <gtest/gtest.h>

#include "compile/padding.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "schedules/schedule.h"
#include "support/compiled.h"

namespace lathe::test {
namespace {

/// Layers of networks, with sizes that suit vectors and sizes that do not.
const std::vector<std::string> layers = {
    "conv(n=1, co=16, ci=3, oh=16, ow=16, k=3, pad=1)",
    "conv(n=1, co=32, ci=32, oh=14, ow=14, k=3, pad=1)",
    "conv(n=1, co=64, ci=48, oh=7, ow=7, k=1)",
    "conv(n=1, co=256, ci=64, oh=4, ow=4, k=1, bias=1)",
    "conv(n=1, co=16, ci=3, oh=14, ow=14, k=7, pad=3, stride=2)",
    "conv(n=1, co=10, ci=3, oh=13, ow=13, k=3, pad=1)",
    "conv(n=1, co=7, ci=5, oh=3, ow=11, k=1, bias=1)",
    "conv(n=1, co=24, ci=16, oh=8, ow=13, k=3, stride=2, pad=1)",
    "conv(n=1, co=32, ci=16, oh=9, ow=9, k=1, stride=2)",
    "conv(n=1, co=16, ci=16, oh=9, ow=9, k=3, pad=2, dilation=2)",
    "conv(n=1, co=16, ci=8, oh=5, ow=9, kh=1, kw=7, bias=1)",
    "conv(n=2, co=16, ci=16, oh=6, ow=6, k=3, pad=1)",
    "adjoint(f32[6x16x9x8], _, _, f32[6x24x9x8], "
    "of=\"conv(f32[6x16x9x8], weight f32[24x16x3x3], pads=[1, 1, 1, 1])\", by=1)",
    "adjoint(f32[20x16x16x16], _, _, f32[20x16x16x16], "
    "of=\"conv(f32[20x16x16x16], weight f32[16x16x1x1])\", by=1)",
    "conv(n=1, co=32, ci=32, oh=7, ow=7, k=3, pad=1, groups=2)",
    "conv(n=1, co=32, ci=32, oh=7, ow=7, k=3, pad=1, groups=4)",
    "conv(n=1, co=64, ci=64, oh=7, ow=7, k=3, pad=1, groups=8)",
    "conv(n=1, co=10, ci=6, oh=5, ow=5, k=3, pad=1, groups=2)",
    "conv(n=1, co=12, ci=24, oh=5, ow=5, k=1, groups=4, bias=1)",
    "conv(n=1, co=16, ci=16, oh=5, ow=6, k=3, groups=16)",
    "depthwise(n=1, c=32, oh=14, ow=14, k=3, pad=1)",
    "depthwise(n=1, c=32, oh=7, ow=7, k=3, pad=1, stride=2, bias=1)",
    "depthwise(n=1, c=10, oh=13, ow=13, k=5, pad=2)",
    "depthwise(n=2, c=24, oh=6, ow=5, k=3, pad=1, dilation=1)",
    "fused(f32[1x8x9x10], weight f32[48x8x1x1], weight f32[48], weight f32[48x1x3x3], "
    "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=48, pads=[1, 1, 1, 1], "
    "strides=[1, 1])\", \"relu(#2)\"])",
    "fused(f32[1x16x12x11], weight f32[32x16x1x1], weight f32[32], weight f32[32x1x3x3], "
    "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=32, pads=[1, 1, 1, 1], "
    "strides=[2, 2])\", \"relu(#2)\"])",
    "fused(f32[2x5x7x7], weight f32[32x5x1x1], weight f32[32], weight f32[32x1x3x3], "
    "calls=[\"conv(%0, %1, %2)\", \"tanh(#0)\", \"conv(#1, %3, groups=32, pads=[1, 1, 1, 1], "
    "strides=[2, 2])\", \"relu(#2)\"])",
    "fused(f32[1x24x9x8], weight f32[64x24x1x1], weight f32[64], weight f32[64x1x5x5], "
    "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=64, pads=[2, 2, 2, 2], "
    "strides=[2, 2])\", \"relu(#2)\"])",
    "fused(f32[1x8x6x9], weight f32[40x8x1x1], weight f32[40], weight f32[40x1x3x3], "
    "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=40, pads=[0, 0, 0, 0], "
    "strides=[1, 1])\", \"relu(#2)\"])",
    "fused(f32[1x8x13x8], weight f32[32x8x1x1], weight f32[32], weight f32[32x1x3x3], "
    "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=32, pads=[0, 1, 1, 0], "
    "strides=[2, 2])\", \"relu(#2)\"])",
    "fully_connected(co=10, ci=64)",
    "fully_connected(n=3, co=100, ci=33, bias=1)",
    "fully_connected(n=1, co=1000, ci=128, bias=1)",
    "fully_connected(n=17, co=48, ci=31)",
    "matmul(i=13, j=17, k=19)",
    "matmul(i=1, j=64, k=64)",
    "matmul(i=64, j=1, k=64)",
    "matmul(n=4, i=16, j=24, k=32)",
    "matmul(f32[2x3x8x16], f32[2x3x16x12])",
    "matmul(f32[5x40], weight f32[40x24])",
    "max_pool(n=1, c=16, oh=8, ow=8, k=3, stride=2)",
    "max_pool(f32[1x16x9x9], kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])",
    "max_pool(f32[2x10x7x7], kernel=[2, 2], strides=[2, 2])",
    "max_pool(i8[1x16x9x9], kernel=[3, 3], pads=[1, 1, 1, 1])",
    "avg_pool(f32[1x16x9x9], kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])",
    "avg_pool(n=1, c=32, oh=4, ow=4, k=2, stride=2)",
    "global_pool(n=1, c=40, h=7, w=7)",
    "global_pool(n=2, c=10, h=3, w=5)",
    "softmax(f32[4x100], axis=1)",
    "softmax(f32[2x16x33], axis=-1)",
    "softmax(f32[2x33x16], axis=1)",
    "log_softmax(f32[3x40], axis=1)",
    "layer_norm(f32[2x5x48], f32[48], f32[48])",
    "layer_norm(f32[3x33], f32[33], f32[33])",
    "batch_norm(n=1, c=16, h=7, w=13)",
    "batch_norm(n=2, c=10, h=5, w=5)",
    "relu(n=2, c=16, h=7, w=9)",
    "add(n=1, c=16, h=7, w=9)",
    "add(f32[1x16x5x5], f32[16x1x1])",
    "mul(f32[2x24x3x3], f32[2x24x1x1])",
    "gelu(f32[4x50])",
    "concat(n=1, c1=16, c2=32, h=5, w=7)",
    "concat(n=1, c1=5, c2=11, h=5, w=7)",
    "transpose(f32[4x18x33], perm=[0, 2, 1])",
    "reshape(f32[1x48x2x2], shape=[1, 192])",
    "reduce_sum(f32[3x40x17], axes=[1])",
    "reduce_sum(f32[3x40x17], axes=[2])",
    "reduce_mean(f32[2x16x7x7], axes=[2, 3])",
    "reduce_max(f32[3x40x17], axes=[0, 2])",
    "reduce_max(i32[5x40], axes=[1])",
    "upsample(n=1, c=16, h=5, w=4, factor=2)",
    "fused(f32[1x16x8x8], weight f32[32x16x3x3], weight f32[32], f32[1x32x8x8], "
    "calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1])\", \"add(#0, %3)\", \"relu(#1)\"])",
    "fused(f32[1x16x9x9], weight f32[24x16x1x1], weight f32[24], "
    "calls=[\"conv(%0, %1, %2)\", \"clip(#0, min=0.0, max=6.0)\"])",
    "fused(f32[1x32x9x9], weight f32[32x1x3x3], weight f32[32], "
    "calls=[\"conv(%0, %1, %2, groups=32, pads=[1, 1, 1, 1], strides=[2, 2])\", "
    "\"clip(#0, min=0.0, max=6.0)\"])",
    "fused(f32[3x40], weight f32[24x40], weight f32[24], "
    "calls=[\"fully_connected(%0, %1, %2)\", \"relu(#0)\"])",
};

std::vector<std::string> all_texts() {
  std::vector<std::string> texts = layers;
  Context ctx;
  for (const Op& op : operators()) {
    for (const std::string& example : op.examples) {
      try {
        interpreted(parse_op(ctx, example));
        texts.push_back(example);
      } catch (const UserError&) {
        continue;  // it runs without a nest, or is not for reals
      }
    }
  }
  return texts;
}

/// How tensors are stored.
enum class Stored { rows, blocks, anyhow };

std::vector<Layout> layouts_of(const Nest& nest, Stored stored, Random& random) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    long block = 16;
    while (tensor.shape.size() < 3 || tensor.shape[1] % block != 0) {
      if ((block /= 2) < 4) break;
    }
    bool data = tensor.role == Role::input || tensor.role == Role::output;
    if (tensor.role == Role::local) {
      layouts.emplace_back();
    } else if (stored == Stored::anyhow && data) {
      layouts.push_back(random_layout(random, tensor.shape));
    } else {
      bool blocked = stored == Stored::blocks && data && block >= 4;
      layouts.push_back(blocked_layout(tensor.shape, blocked ? block : 1));
    }
  }
  return layouts;
}

/// Returns the nest whose inputs are stored without their padding.
Nest unpadded(Nest nest) {
  for (size_t t = 0, n = nest.tensors().size(); t < n; ++t) {
    const Tensor& tensor = nest.tensors()[t];
    bool padded = std::any_of(tensor.pad.begin(), tensor.pad.end(),
                              [](const Pad& p) { return p.before > 0 || p.after > 0; });
    if (padded && tensor.role == Role::input) nest = without_padding(nest, t);
  }
  return nest;
}

/// Expects that the template's recipe is legal, and lowers the nest.
CompiledCase lowered(const Nest& nest, const Reference& wanted, const std::vector<Layout>& layouts,
                     const Target& target) {
  NodeCode code = lower_node(nest, layouts, target);
  Nest started = with_starts(nest);
  std::string replayed;
  EXPECT_NO_THROW(replayed = print(replay(started, parse_recipe(code.recipe)))) << code.recipe;
  CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, wanted, ""};
  if (rounds(code.recipe)) c.wanted.slack = slack_of_integers;
  c.story = code.schedule + ": " + code.recipe + "\n";
  return c;
}

/// Runs a layer on this machine however it is stored, and compiles it for the others. Steps that
/// are not the templates' come first.
void expect_right_code(const std::string& text, Random& random, const Recipe& first = {}) {
  SCOPED_TRACE(text);
  Context ctx;
  Compilation compilation;
  Nest padded = parse_op(ctx, text);
  for (const Nest& nest : {replay(padded, first), replay(unpadded(padded), first)}) {
    Reference wanted = interpreted(nest);
    for (Stored stored : {Stored::rows, Stored::blocks, Stored::anyhow}) {
      std::vector<Layout> layouts = layouts_of(nest, stored, random);
      Target native = native_target();
      native.workers = random.pick(std::vector<long>{1, 2, 5, 16});
      compilation.add(lowered(nest, wanted, layouts, native));
      if (stored != Stored::blocks) continue;
      for (const Target& target : targets()) {
        if (target.name == native_target().name) continue;
        Compilation other(target);
        other.add(lowered(nest, wanted, layouts, target));
        EXPECT_FALSE(other.object().empty());
      }
    }
  }
  compilation.run(random);
}

TEST(Templates, WriteLegalRecipesWhoseKernelsAreRight) {
  Random random(20211, 0);
  for (const std::string& text : all_texts()) {
    ASSERT_NO_THROW(expect_right_code(text, random)) << text;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Templates, MultiplyIntegersThatAStepMakes) {
  Random random(20211, 1);
  for (const char* text :
       {"conv(n=1, co=32, ci=32, oh=14, ow=14, k=3, pad=1)",
        "conv(n=1, co=24, ci=16, oh=8, ow=13, k=3, stride=2, pad=1)",
        "conv(n=1, co=7, ci=5, oh=3, ow=11, k=1, bias=1)",
        "conv(n=1, co=32, ci=32, oh=7, ow=7, k=3, pad=1, groups=4)",
        "conv(n=2, co=16, ci=16, oh=6, ow=6, k=3, pad=1)",
        "depthwise(n=1, c=32, oh=7, ow=7, k=3, pad=1, stride=2, bias=1)",
        "fully_connected(n=3, co=100, ci=33, bias=1)", "matmul(i=13, j=17, k=19)",
        "fused(f32[1x16x8x8], weight f32[32x16x3x3], weight f32[32], f32[1x32x8x8], "
        "calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1])\", \"add(#0, %3)\", \"relu(#1)\"])",
        "fused(f32[1x8x9x10], weight f32[48x8x1x1], weight f32[48], weight f32[48x1x3x3], "
        "calls=[\"conv(%0, %1, %2)\", \"relu(#0)\", \"conv(#1, %3, groups=48, pads=[1, 1, 1, 1], "
        "strides=[1, 1])\", \"relu(#2)\"])"}) {
    expect_right_code(text, random, parse_recipe("quantize(int8)"));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Templates, EveryLayerGetsTheOneForIt) {
  struct {
    const char *layer, *wanted;
  } table[] = {
      {"conv(n=1, co=32, ci=32, oh=14, ow=14, k=3, pad=1)", "winograd"},
      {"conv(n=1, co=32, ci=32, oh=14, ow=14, k=3, pad=1, stride=2)", "contraction"},
      {"conv(n=1, co=64, ci=48, oh=7, ow=7, k=1)", "contraction"},
      {"conv(n=1, co=10, ci=3, oh=13, ow=13, k=3, pad=1)", "contraction"},
      {"conv(n=1, co=32, ci=32, oh=7, ow=7, k=3, pad=1, groups=4)", "winograd"},
      {"fully_connected(n=3, co=100, ci=33, bias=1)", "contraction"},
      {"matmul(i=13, j=17, k=19)", "contraction"},
      {"conv(f32[1x32x16x16], weight f32[32x1x3x3], groups=32, pads=[1, 1, 1, 1])", "window"},
      {"fused(f32[1x8x14x14], weight f32[32x8x1x1], weight f32[32x1x3x3], calls=[\"conv(%0, %1)\", "
       "\"relu(#0)\", \"conv(#1, %2, groups=32, pads=[1, 1, 1, 1])\"])",
       "chain"},
      {"max_pool(f32[1x16x9x9], kernel=[3, 3], strides=[2, 2])", "window"},
      {"avg_pool(f32[1x16x9x9], kernel=[3, 3], strides=[2, 2])", "window"},
      {"relu(n=2, c=16, h=7, w=9)", "elements"},
      {"transpose(f32[4x18x33], perm=[0, 2, 1])", "elements"},
  };
  Random random(1, 0);
  for (const auto& [layer, wanted] : table) {
    Context ctx;
    Nest nest = parse_op(ctx, layer);
    for (const Target& target : targets()) {
      std::vector<Layout> layouts = layouts_of(nest, Stored::blocks, random);
      NodeCode code = lower_node(nest, layouts, target);
      EXPECT_EQ(code.schedule, wanted) << layer << " for " << target.name << ": " << code.recipe;
    }
  }
}

}  // namespace
}  // namespace lathe::test
