// Long chains of operators on single elements: fused in pieces, so that the work on each is
// bounded.
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "compile/units.h"
#include "graph/text.h"
#include "models/model.h"
#include "passes/pass.h"

namespace lathe::test {
namespace {

/// Nodes in turn: relu, a change of sign, and 1 more.
Graph chain(size_t nodes) {
  std::string text =
      "graph chain\n"
      "input x: f32[1x4x4x4]\n"
      "weight w: f32[1x4x1x1] = ones\n";
  std::string last = "x";
  for (size_t i = 0; i < nodes; ++i) {
    std::string name = fmt::format("v{}", i);
    const char* op = i % 3 == 0 ? "relu({})" : i % 3 == 1 ? "neg({})" : "add({}, w)";
    text += fmt::format("{} = {}: f32[1x4x4x4]\n", name, fmt::format(fmt::runtime(op), last));
    last = name;
  }
  return initialised(parse_graph(text + "output " + last + "\n"), 1);
}

size_t calls_of(const Node& node) {
  auto calls = node.attributes.find("calls");
  return calls == node.attributes.end() ? 1
                                        : std::get<std::vector<std::string>>(calls->second).size();
}

TEST(LongChains, AreFusedInPieces) {
  constexpr size_t nodes = 4000, most = 32;
  Graph fused = find_pass("fuse_ops").run(chain(nodes), {});
  EXPECT_EQ(fused.nodes.size(), nodes / most);
  size_t calls = 0;
  for (const Node& node : fused.nodes) {
    EXPECT_LE(calls_of(node), most);
    calls += calls_of(node);
  }
  EXPECT_EQ(calls, nodes);
}

TEST(LongChains, CompileToFewKernels) {
  CompileOptions how;
  how.target = native_target();
  how.cache = false;
  Compiled compiled = compile(chain(4000), how);
  EXPECT_LE(compiled.objects.size(), 8u);  // pieces that begin alike are alike
  Runner runner(compiled, 1);
  std::vector<float> input(64, -3.0F);
  float must = -3.0F;
  for (int i = 0; i < 4000; ++i)
    must = i % 3 == 0 ? std::max(must, 0.0F) : i % 3 == 1 ? -must : must + 1;
  std::vector<Array> outputs = runner.run({Array::of<float>({1, 4, 4, 4}, input)});
  for (float value : outputs[0].as<float>()) EXPECT_FLOAT_EQ(value, must);
}

}  // namespace
}  // namespace lathe::test
