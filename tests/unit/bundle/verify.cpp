// Bundles that are what they say, and bundles that are not.
#include "bundle/verify.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bundle/making.h"
#include "compile/library.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// No other library: those are for tests/bundle.sh.
VerifyOptions alone() {
  VerifyOptions options;
  options.target = native_target();
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
  make_bundle(graph, {}, {}, {.target = native_target()}, folder);
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

TEST(Verify, AllFilesOfALibraryCount) {
  for (const char* file : {"libmodel.so", "model.a", "model.h", "example.c"}) {
    TemporaryDirectory folder;
    write_small(folder.file("a"), "0.1");
    std::string library = folder.file("a/library"), onnx = folder.file("a/model.onnx");
    EXPECT_EQ(print(verify_library(library, onnx, alone())),
              "files same\ninterpreter same\nmodel.onnx same\nlibrary same\n"
              "ONNX Runtime skipped\nONNX reference skipped\n");
    std::string bytes = content_of(library + "/" + file);
    bytes[bytes.size() / 2] ^= 1;
    folder.file(std::string("a/library/") + file, bytes);
    std::vector<Check> checks = verify_library(library, onnx, alone());
    EXPECT_EQ(checks[0].result, Check::Result::differs);
    EXPECT_EQ(checks[0].detail, std::string(file) + " is not what was written");
  }
}

TEST(Verify, FilesOfALibraryForAnotherMachineCount) {
  TemporaryDirectory folder;
  CompileOptions other;
  for (const Target& target : targets()) {
    if (target.architecture != native_target().architecture) other.target = target;
  }
  Graph graph = parse_graph("graph small\ninput x: f32[8]\ny = relu(x): f32[8]\noutput y\n");
  write_library(compile(graph, other), folder.file("a"));
  EXPECT_EQ(print(verify_library(folder.file("a"), "", alone())),
            "files same\nlibrary skipped\noutputs skipped\n");
  folder.file("a/libmodel.so", "changed");
  EXPECT_EQ(print(verify_library(folder.file("a"), "", alone())),
            "files differs\nlibrary skipped\noutputs skipped\n");
}

TEST(Verify, TheSummarySaysWhatWasNotChecked) {
  using Result = Check::Result;
  Check files{"files", Result::same, ""}, torch{"PyTorch", Result::skipped, ""},
      library{"library", Result::differs, ""};
  EXPECT_EQ(summary_of({files}), "nothing differs in 1 check");
  EXPECT_EQ(summary_of({files, torch}), "nothing differs in 1 check; not checked: PyTorch");
  EXPECT_EQ(summary_of({files, library, library, torch}),
            "1 of 2 checks failed: library; not checked: PyTorch");
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
