// Bundles that are what they say, and bundles that are not.
#include "bundle/verify.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bundle/making.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// No other library: those are for tests/bundle.sh.
VerifyOptions alone() {
  VerifyOptions options;
  options.pythons = {"/nowhere/python"};
  return options;
}

void write_small(const std::string& folder, const std::string& scale) {
  Graph graph = parse_graph(
      "graph small\ninput x: f32[1x8x6x6]\nweight w: f32[16x8x3x3] = normal(" + scale + R"()
c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x16x6x6]
r = relu(c): f32[1x16x6x6]
output r
)");
  make_bundle(graph, {}, {}, {}, folder);
}

std::string print(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    bool skipped = check.result == Check::Result::skipped;
    bool same = check.result == Check::Result::same;
    text += check.what + (skipped ? " skipped\n" : same ? " same\n" : " differs\n");
  }
  return text;
}

TEST(Verify, WhatWasWrittenIsTheSame) {
  TemporaryDirectory folder;
  write_small(folder.file("a"), "0.1");
  EXPECT_EQ(print(verify_bundle(folder.file("a"), alone())),
            "files same\ninterpreter same\nmodel.onnx same\nlibrary same\nONNX Runtime skipped\n"
            "ONNX reference skipped\nPyTorch skipped\n");
}

TEST(Verify, WithoutPatienceTheTemplatesStandForTheInterpreter) {
  TemporaryDirectory folder;
  write_small(folder.file("a"), "0.1");
  VerifyOptions hurried = alone();
  hurried.patience = 0;
  std::vector<Check> checks = verify_bundle(folder.file("a"), hurried);
  EXPECT_EQ(checks[1].result, Check::Result::skipped);
  EXPECT_EQ(checks[2].what, "library");
  EXPECT_EQ(checks[2].result, Check::Result::same);
}

TEST(Verify, AnotherLibraryDiffers) {
  TemporaryDirectory folder;
  write_small(folder.file("a"), "0.1");
  write_small(folder.file("b"), "0.2");
  std::filesystem::remove_all(folder.file("a/library"));
  std::filesystem::rename(folder.file("b/library"), folder.file("a/library"));
  std::string text = print(verify_bundle(folder.file("a"), alone()));
  EXPECT_NE(text.find("files differs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("model.onnx same\nlibrary differs\n"), std::string::npos) << text;
}

TEST(Verify, DifferencesArePartsOfTheLargest) {
  auto array = [](std::vector<float> elements) {
    return std::vector<Array>{Array::of<float>({static_cast<long>(elements.size())}, elements)};
  };
  double error = 0;
  EXPECT_EQ(difference(array({100, 1.001f}), array({100, 1}), 1e-4, error), "");
  EXPECT_NEAR(error, 1e-5, 1e-6);
  EXPECT_EQ(difference(array({1, 1.001f}), array({1, 1}), 1e-4, error),
            "element 1 of output 0 is 1.001 instead of 1");
  EXPECT_EQ(difference(array({NAN}), array({1}), 1e-4, error),
            "element 0 of output 0 is nan instead of 1");
  EXPECT_EQ(difference(array({NAN}), array({NAN}), 1e-4, error), "");
  EXPECT_EQ(difference(array({1}), array({1, 2}), 1e-4, error), "output 0 is 1, not 2");
}

}  // namespace
}  // namespace lathe::test
