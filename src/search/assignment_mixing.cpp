// assignment_mixing.cpp: relations of channels for each variant. Interface: assignment_mixing.h.
#include "search/assignment_mixing.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

/// Returns which channels a layer connects after each of the recipes.
std::vector<BitMatrix> relations_of(const Call& layer, const std::vector<LayerVariant>& variants) {
  Context context;
  Nest original = samples_inward(nest_of(context, layer));
  std::vector<BitMatrix> result;
  for (const LayerVariant& variant : variants) {
    Nest nest = original;
    for (const Step& step : variant.recipe) nest = apply(nest, step).nest;
    result.push_back(reached(nest, 0));
  }
  return result;
}

/// Returns the node that makes what a node reads first, through nodes that treat each channel
/// alone; nothing where paths join, or at the network's input.
std::optional<size_t> maker_of(const Graph& network, size_t reader) {
  const Node* node = &network.nodes[reader];
  while (true) {
    ValueId value = node->inputs[0];
    auto made = std::find_if(network.nodes.begin(), network.nodes.end(), [&](const Node& n) {
      return std::find(n.outputs.begin(), n.outputs.end(), value) != n.outputs.end();
    });
    if (made == network.nodes.end()) return std::nullopt;
    auto computed = std::count_if(made->inputs.begin(), made->inputs.end(), [&](ValueId id) {
      return id != no_value && network.values[id].kind == Value::Kind::computed;
    });
    if (made->op == "conv") return static_cast<size_t>(made - network.nodes.begin());
    if (computed != 1) return std::nullopt;
    node = &*made;
  }
}

}  // namespace

AssignmentMixing::AssignmentMixing(const Graph& network, const NetworkSpace& space)
    : network_(network), relations_(space.kinds.size()) {
  for (const LayerSite& site : space.sites) {
    auto node = find_node(network, site.layer);
    check(node.has_value(), "the sites of a space are layers of its network");
    nodes_.push_back(*node);
    kinds_.push_back(site.kind);
  }
  original_ = network_.with({});
  for (size_t node : nodes_) {
    auto maker = maker_of(network, node);
    follows_.push_back(maker && std::find(nodes_.begin(), nodes_.end(), *maker) != nodes_.end());
  }
  int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for_each_index(space.kinds.size(), workers, [&](size_t k) {
    const LayerKind& kind = space.kinds[k];
    const Node& node = network.nodes[nodes_[kind.sites.front()]];
    relations_[k] = relations_of(call_of(network, node), kind.variants);
  });
}

Mixing AssignmentMixing::of(const Assignment& assignment) const {
  NetworkMixing::Changes changes;
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (assignment[s] != 0) changes[nodes_[s]] = &relations_[kinds_[s]][assignment[s]];
  }
  return network_.with(changes);
}

}  // namespace lathe
