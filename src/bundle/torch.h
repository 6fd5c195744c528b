// A network as a PyTorch module: a Python file to read, train and change, and its weights.
//
//   write_torch(graph, "model.py");          writes model.py, and model.npz beside it
//
//   import model                             # in Python
//   network = model.load()                   # torch.nn.Module, as after eval()
//   network.convolutions["layer1.0.conv1"]   # torch.nn.Conv2d
//
// Layers are modules of their names in the graph: layer1.0.conv1 is network.layer1[0].conv1, and
// its weights are layer1.0.conv1.weight in the state dictionary. The number of samples is not part
// of the module: what a graph says of one sample, it does to any number.
#pragma once

#include <string>

#include "graph/graph.h"

namespace lathe {

/// Returns the text of the module, which needs torch (1.13 or later) and numpy only. Fails, naming
/// each, where operators have no form in it.
std::string print_torch(const Graph& graph);

/// Writes the module to "path", which ends with .py, and the weights to a file beside it that ends
/// with .npz instead; they have the graph's names there. Fails where a weight has no data.
void write_torch(const Graph& graph, const std::string& path);

}  // namespace lathe
