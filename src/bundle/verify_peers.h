// Networks run by other libraries, through Python: ONNX Runtime, ONNX's own reference, PyTorch.
// Private to the folder.
#pragma once

#include <string>
#include <vector>

#include "base/array.h"

namespace lathe {

/// A library that runs ONNX files.
struct OnnxPeer {
  std::string name;    ///< "ONNX Runtime"
  std::string module;  ///< of Python
  std::string script;  ///< sets "outputs", from "path" and the arrays "inputs"
};

const std::vector<OnnxPeer>& onnx_peers();

struct PeerOutputs {
  std::vector<Array> outputs;
  std::string missing;  ///< what is not installed here, so that it could not run; "" if it ran
  std::string failure;  ///< why it failed when it ran; "" if it did not fail
};

/// Runs an ONNX file by the first of "pythons" that has the module.
PeerOutputs run_onnx(const OnnxPeer& peer, const std::vector<std::string>& pythons,
                     const std::string& path, const std::vector<Array>& inputs, size_t outputs);

/// Runs a module that write_torch() wrote.
PeerOutputs run_torch(const std::vector<std::string>& pythons, const std::string& path,
                      const std::vector<Array>& inputs, size_t outputs);

}  // namespace lathe
