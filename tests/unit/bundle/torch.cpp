// PyTorch modules: what the text says, and what it refuses to say. tests/torch_module.py runs them.
#include "bundle/torch.h"

#include <gtest/gtest.h>

#include "bundle/torch_names.h"
#include "models/model.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Returns the module of a network that applies one operator to x.
std::string module_of(const std::string& nodes) {
  return print_torch(parse_graph("graph g\n" + nodes));
}

void expect_lines(const std::string& text, std::initializer_list<std::string_view> lines) {
  for (std::string_view line : lines) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos)
        << "'" << line << "' is not in: " << text;
  }
}

TEST(Torch, LayersHaveTheirNames) {
  std::string text = print_torch(load_model("resnet18-cifar"));
  expect_lines(text,
               {"        self.place(\"conv1\", nn.Conv2d(3, 64, 3, padding=1, bias=False))",
                "        self.place(\"layer1.0.bn1\", nn.BatchNorm2d(64))",
                "        self.place(\"layer2.0.conv1\", nn.Conv2d(64, 128, 3, stride=2, padding=1, "
                "bias=False))",
                "        self.place(\"fc\", nn.Linear(512, 10))",
                "    def forward(self, input):", "        relu = F.relu(x)",
                "        x = self.layer1[0].conv1(relu)", "        x = x + layer1_0_relu2",
                "        x = x.flatten(1)", "        output = self.fc(x)", "        return output",
                "NAMES = {}", "    \"layer2.0.downsample.0\","});
  // Only what is used is there.
  EXPECT_EQ(text.find("class Take"), std::string::npos);
  EXPECT_EQ(text.find("mean_of_covered"), std::string::npos);
}

TEST(Torch, PaddingThatDiffersIsAnOperation) {
  expect_lines(module_of(R"(
input x: f32[1x2x6x6]
weight w: f32[4x1x3x3] = normal(0.1)
weight b: f32[4] = zeros
c = conv(x, w, b, groups=2, pads=[0, 1, 2, 3], dilations=[1, 2]): f32[1x4x6x6]
p = max_pool(c, kernel=[2, 2], strides=[2, 2], pads=[1, 0, 0, 0]): f32[1x4x3x3]
a = avg_pool(p, kernel=[2, 2], pads=[1, 0, 0, 1]): f32[1x4x3x3]
output a
)"),
               {"        self.place(\"c\", nn.Conv2d(2, 4, 3, dilation=(1, 2), groups=2))",
                "        x_2 = self.c(F.pad(x, (1, 3, 0, 2)))",
                "        x_2 = F.max_pool2d(F.pad(x_2, (0, 0, 1, 0), value=-float(\"inf\")), 2, 2)",
                "        a = mean_of_covered(F.avg_pool2d, x_2, (0, 1, 1, 0), 2, 1)",
                "    \"c.weight\": \"w\",", "    \"c.bias\": \"b\","});
}

TEST(Torch, WeightsThatTwoReadStandAlone) {
  expect_lines(module_of(R"(
input input: f32[1x2x4x4]
weight shared.weight: f32[2x2x1x1] = normal(0.1)
a = conv(input, shared.weight): f32[1x2x4x4]
b = conv(a, shared.weight): f32[1x2x4x4]
output b
)"),
               {"        self.place(\"shared.weight\", nn.Parameter(torch.zeros((2, 2, 1, 1))))",
                "        x = F.conv2d(input, self.shared.weight, None)",
                "        b = F.conv2d(x, self.shared.weight, None)", "CONVOLUTIONS = []"});
}

TEST(Torch, SlicesAndIndices) {
  std::string text = module_of(R"(
input input: f32[2x8x5]
a = slice(input, starts=[0, 2, 4], sizes=[2, 3, 5], steps=[1, 2, -1]): f32[2x3x5]
b = take(input, axis=1, indices=[0, 1, 2, 3, 0, 1, 2, 3, -1]): f32[2x9x5]
c = take(input, axis=2, indices=[0, 1, 2, 3]): f32[2x8x4]
output a
output b
output c
)");
  expect_lines(text, {"        self.place(\"b\", Take(1, [*range(0, 4), *range(0, 4), 7]))",
                      "        self.place(\"c\", Take(2, range(0, 4)))",
                      "        a = torch.flip(input[:, 2:7:2], (2,))", "        b = self.b(input)",
                      "        return (a, b, c)"});
}

TEST(Torch, OperatorsWithoutAForm) {
  expect_failure(
      [] {
        module_of(
            "input x: f32[1x4x2x2]\nn = lrn(x, size=3): f32[1x4x2x2]\n"
            "output n");
      },
      {"PyTorch modules are not written with:\n  lrn, node 'n'"});
  expect_failure(
      [] {
        module_of(
            "input x: f32[1x4x6x6]\n"
            "p = avg_pool(x, kernel=[2, 2], dilations=[2, 2]): f32[1x4x4x4]\noutput p");
      },
      {"node 'p': avg_pool: PyTorch has no dilation of it"});
}

TEST(Torch, FilesGoTogether) {
  TemporaryDirectory files;
  Graph graph = initialised(load_model("nasbench201:0"), 1);
  write_torch(graph, files.file("network.py"));
  EXPECT_EQ(content_of(files.file("network.py")), print_torch(graph));
  EXPECT_EQ(content_of(files.file("network.npz")).substr(0, 4), "PK\x03\x04");
  expect_failure([&] { write_torch(graph, files.file("network.txt")); }, {"FILE.py"});
}

TEST(TorchNames, Paths) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(module_paths({"layer1.0.conv1", "conv1"}), (Names{"layer1.0.conv1", "conv1"}));
  // No path is inside of another: what would be is beside it.
  EXPECT_EQ(module_paths({"conv", "conv.take", "a.1", "a.1.take"}),
            (Names{"conv", "conv_take", "a.1", "a.n1_take"}));
  EXPECT_EQ(module_paths({"a_b.c", "a", "a.b"}), (Names{"a_b.c", "a", "a_b_"}));
  // What Python and PyTorch use themselves gets an underscore.
  EXPECT_EQ(module_paths({"train", "in", "x.forward"}), (Names{"train_", "in_", "x.forward_"}));
  EXPECT_EQ(module_paths({"/block/Conv.0", "2x2", "..", "a-b", "a_b", "01"}),
            (Names{"block_Conv.0", "n2x2", "value", "a_b", "a_b_", "n01"}));
}

TEST(TorchNames, Access) {
  EXPECT_EQ(print_access("layer1.0.conv1"), "self.layer1[0].conv1");
  EXPECT_EQ(print_access("0"), "self[0]");
}

TEST(TorchNames, Variables) {
  VariableNames names({"self"});
  EXPECT_EQ(names.unique("layer1.0"), "layer1_0");
  EXPECT_EQ(names.unique("layer1_0"), "layer1_0_2");
  EXPECT_EQ(names.unique("self"), "self_2");
  EXPECT_EQ(names.unique("lambda"), "lambda_");
}

TEST(TorchNames, Text) { EXPECT_EQ(print_python("a\"\\\n"), "\"a\\\"\\\\\\x0a\""); }

}  // namespace
}  // namespace lathe::test
