// ONNX files: networks in and out, and single tensors.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace lathe {

/// A model that is right, but uses what Lathe does not have: the message lists all of it.
class Unsupported : public UserError {
 public:
  using UserError::UserError;
};

struct ImportOptions {
  /// Shapes of inputs whose dimensions are named or unknown.
  std::map<std::string, Shape> shapes = {};
  /// Values of inputs, where they are known. A network is compiled for fixed shapes: an input that
  /// decides one (the second of a Reshape), by itself or with other known values, is fixed to its
  /// value here; the others stay inputs.
  std::map<std::string, Array> values = {};
};

/// Reads a network from an .onnx file. Data in other files are looked for beside it.
Graph import_onnx(const std::string& path, const ImportOptions& options = {});

/// Reads a network from the bytes of such a file; "folder" is where other files may be.
Graph parse_onnx(const std::string& bytes, const std::string& source, const std::string& folder,
                 const ImportOptions& options = {});

/// What a file says of itself before anything is translated.
struct OnnxSummary {
  struct Input {
    std::string name;
    bool has_default;                ///< does an initialiser have its name?
    std::optional<Element> element;  ///< of a tensor whose type Lathe has
  };
  std::vector<Input> inputs;
  std::vector<std::string> operators;  ///< each once, sorted; "domain:Name" outside of ONNX's own
};

/// Reads the summary of an .onnx file.
OnnxSummary summarise_onnx(const std::string& path);

/// Reads one tensor from a .pb file.
Array read_tensor(const std::string& path);

/// Returns the graph as the bytes of an .onnx file, made of standard operators only. Weights must
/// have data.
std::string export_onnx(const Graph& graph);
/// Writes such a file.
void write_onnx(const Graph& graph, const std::string& path);

}  // namespace lathe
