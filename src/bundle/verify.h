// Does a bundle hold what it says? Its files are those that were written, and all its forms of the
// network compute the same.
//
//   for (const Check& check : verify_bundle("out", {})) fmt::print("{}", check.detail);
//
// The library, model.onnx and model.py get the same random input. The interpreter says what they
// must compute: it runs the instances of every nest one by one. If that would take too long, the
// ONNX file says it, compiled anew by the templates alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "codegen/target.h"
#include "graph/graph.h"

namespace lathe {

struct VerifyOptions {
  Target target;            ///< this machine
  uint64_t seed = 1;        ///< of the input
  int threads = 1;          ///< of the library
  double patience = 60;     ///< seconds that the interpreter may take, by estimate
  double tolerance = 1e-4;  ///< of an output's largest element
  std::vector<std::string> pythons = {"python3"};  ///< where to look for other libraries, in order
};

/// One thing that was looked at.
struct Check {
  enum class Result { same, differs, skipped };
  std::string what;  ///< "files", "library", "interpreter", "PyTorch", ...
  Result result = Result::same;
  std::string detail;  ///< how far it is off, what is wrong, or why it was skipped
};

/// What a library computes, if that is less precise than the files beside it.
struct LessPrecise {
  std::optional<Graph> network = std::nullopt;
  std::string unknown = {};  ///< why that is not known; "": it is, or nothing is less precise
};

/// The files to compare; "" for one that does not exist.
struct VerifiedFiles {
  std::string library;  ///< a folder
  std::string onnx, torch;
  LessPrecise less_precise = {};  ///< than the ONNX file
};

/// Compares the outputs of all forms of a network.
std::vector<Check> verify_outputs(const VerifiedFiles& files, const VerifyOptions& options);

/// Checks a bundle: its files by their hashes, then their outputs.
std::vector<Check> verify_bundle(const std::string& folder, const VerifyOptions& options,
                                 LessPrecise less_precise = {});

/// Checks a library in the same way. "onnx" is the file that it was compiled from; "" if nobody
/// knows.
std::vector<Check> verify_library(const std::string& folder, const std::string& onnx,
                                  const VerifyOptions& options);

/// Says in a line what came of the checks, and which were not made: "nothing differs in 4 checks;
/// not checked: PyTorch".
std::string summary_of(const std::vector<Check>& checks);

/// Says where outputs differ by more than "tolerance" times their largest element; "" if they do
/// not. Sets "error" to the largest difference, divided by the largest element.
std::string difference(const std::vector<Array>& is, const std::vector<Array>& must,
                       double tolerance, double& error);

}  // namespace lathe
