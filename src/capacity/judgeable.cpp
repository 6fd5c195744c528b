// judgeable.cpp: networks that cannot be judged. Interface: judgeable.h.
#include "capacity/judgeable.h"

#include <algorithm>

#include "autodiff/training.h"
#include "base/error.h"

namespace lathe {
namespace {

/// Blocks that each add to their input double its variance. After so many of them numbers are a
/// thousand times as large, and the loss of a network that nobody trained says nothing.
constexpr long most_blocks = 4;

bool is_norm(const Node& node) { return node.op.ends_with("_norm"); }

/// Does a node add up two values that were computed, as the end of a residual block does?
bool is_residual(const Graph& network, const Node& node) {
  if (node.op != "add") return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id != no_value && network.values[id].kind == Value::Kind::computed;
  });
}

}  // namespace

void check_judgeable(const Graph& network) {
  classes_of(network);
  const std::vector<Node>& nodes = network.nodes;
  bool has_convolution =
      std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == "conv"; });
  if (!has_convolution) {
    fail("'{}' cannot be judged: it has no convolution, and the gate compares convolutions",
         network.name);
  }
  auto blocks = std::count_if(nodes.begin(), nodes.end(),
                              [&](const Node& node) { return is_residual(network, node); });
  if (blocks > most_blocks && std::none_of(nodes.begin(), nodes.end(), is_norm)) {
    fail(
        "'{}' cannot be judged: it has {} residual blocks and no normalisation. The exporter "
        "folded the batch normalisations into the convolutions. Export the network in training "
        "mode, so that the file keeps them",
        network.name, blocks);
  }
}

}  // namespace lathe
