// Whether a bundle, or a library, is what it says, as a job (bundle/verify.h).
//
//   std::vector<Check> checks = verify_folder({.folder = "runs/r18/bundle"});
//   summary_of(checks)                         nothing differs in 5 checks
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bundle/verify.h"

namespace lathe {

struct VerifyJobOptions {
  std::string folder;  ///< a bundle, or what 'lathe compile' wrote
  std::string onnx;    ///< the file that a library was compiled from; "": nobody knows
  /// A Python that is asked first for other libraries; "": none. $LATHE_PYTHON goes before it.
  std::string python;
  VerifyOptions how;  ///< for this machine, with the Pythons that are here
};

/// Makes all checks. Fails if the folder holds nothing that can be verified.
std::vector<Check> verify_folder(VerifyJobOptions options);

/// Does nothing differ?
bool all_same(const std::vector<Check>& checks);

/// Converts what was found to JSON.
nlohmann::json to_json(const std::vector<Check>& checks);

}  // namespace lathe
