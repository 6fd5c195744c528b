// A network as a PyTorch module: a Python file to read, train and change, and its weights.
//
//   write_torch(graph, "model.py");          writes model.py, and model.npz beside it
//
//   import model                             # in Python
//   network = model.load()                   # torch.nn.Module, as after eval()
//   network.convolutions["layer1.0.conv1"]   # torch.nn.Conv2d
//
// Each layer is a module and keeps its name: layer1.0.conv1 is network.layer1[0].conv1, and its
// weights are layer1.0.conv1.weight in the state dictionary. The module takes any number of
// samples, whatever number the graph is for.
#pragma once

#include <string>

#include "graph/graph.h"

namespace lathe {

/// Returns the text of the module, which needs torch (1.13 or later) and numpy only. Fails if
/// operators have no form in PyTorch, and names them all.
std::string print_torch(const Graph& graph);

/// Writes the module to "path", which ends with .py. Writes the weights, by their names in the
/// graph, to a file beside it that ends with .npz instead. Fails if a weight has no data.
void write_torch(const Graph& graph, const std::string& path);

}  // namespace lathe
