// Runs the tests that the ONNX project has for backends. A test is a folder with a model, inputs
// and the outputs that are wanted.
#pragma once

#include <string>
#include <vector>

#include "codegen/target.h"

namespace lathe {

/// One test: a model, and where its data are.
struct ConformanceTest {
  std::string kind;  ///< node, simple, pytorch-operator, pytorch-converted, light
  std::string name;
  std::string model;  ///< path of the .onnx file
};

/// The result of a test.
struct ConformanceResult {
  enum class Status { passed, failed, unsupported };
  Status status;
  std::string reason;                  ///< why it did not pass
  std::vector<std::string> operators;  ///< which the model uses
};

/// Names a status: "passed", "failed", "not supported".
const char* name_of(ConformanceResult::Status status);

/// Finds all tests below "folder", sorted.
std::vector<ConformanceTest> find_conformance_tests(const std::string& folder);

/// Runs one test on a machine of this computer. Outputs may differ by a relative 1e-3, or 2e-3 for
/// whole networks. ONNX's own runner allows the same.
ConformanceResult run_conformance_test(const ConformanceTest& test, const Target& target);

}  // namespace lathe
