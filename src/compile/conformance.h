// Runs ONNX's own tests of backends: folders that hold a model, inputs and the outputs wanted.
#pragma once

#include <string>
#include <vector>

namespace lathe {

/// One test: a model, and where its data are.
struct ConformanceTest {
  std::string kind;  ///< node, simple, pytorch-operator, pytorch-converted, light
  std::string name;
  std::string model;  ///< path of the .onnx file
};

/// What became of a test.
struct ConformanceResult {
  enum class Status { passed, failed, unsupported };
  Status status;
  std::string reason;                  ///< of a test that did not pass
  std::vector<std::string> operators;  ///< that the model uses
};

/// Names a status: "passed", "failed", "not supported".
const char* name_of(ConformanceResult::Status status);

/// Finds all tests below "folder", sorted.
std::vector<ConformanceTest> find_conformance_tests(const std::string& folder);

/// Runs one test. Outputs agree if they differ by no more than a relative 1e-3 (2e-3 for whole
/// networks), as ONNX's own runner asks for.
ConformanceResult run_conformance_test(const ConformanceTest& test);

}  // namespace lathe
