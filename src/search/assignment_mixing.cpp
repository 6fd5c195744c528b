// assignment_mixing.cpp: relations of channels, variant by variant. Interface: assignment_mixing.h.
#include "search/assignment_mixing.h"

#include <algorithm>

#include "base/error.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

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
    : network_(network) {
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
  inside_.resize(network_.stages());
  connected_.resize(network_.stages());
  for (size_t stage = 0; stage < inside_.size(); ++stage) {
    for (size_t s = 0; s < nodes_.size(); ++s) {
      if (network_.is_inside(stage, nodes_[s])) inside_[stage].push_back(s);
    }
  }
  for (const LayerKind& kind : space.kinds) {
    layers_.push_back(call_of(network, network.nodes[nodes_[kind.sites.front()]]));
    made_.emplace_back();
    for (const LayerVariant& variant : kind.variants) made_.back().push_back(variant.recipe);
  }
}

/// Returns which channels a layer connects after the recipe of a variant; null if it connects those
/// that it did. Each is found once, when it is asked for: few of all variants are.
const BitMatrix* AssignmentMixing::relation(size_t kind, size_t variant) const {
  auto [found, is_new] = of_.try_emplace({kind, variant}, nullptr);
  if (is_new) {
    Context context;
    Nest nest = samples_inward(nest_of(context, layers_[kind]));
    for (const Step& step : made_[kind][variant]) nest = apply(nest, step).nest;
    found->second = &*relations_.insert(reached(nest, 0)).first;
  }
  if (variant == 0) return found->second;
  return found->second == relation(kind, 0) ? nullptr : found->second;
}

Mixing AssignmentMixing::of(const Assignment& assignment) const {
  std::lock_guard lock(mutex_);
  Relations all(assignment.size(), nullptr);
  NetworkMixing::Changes changes;
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (assignment[s] != 0) all[s] = relation(kinds_[s], assignment[s]);
    if (all[s] != nullptr) changes[nodes_[s]] = all[s];
  }
  double sum = 0;
  for (size_t stage = 0; stage < inside_.size(); ++stage) {
    Relations inside;
    for (size_t s : inside_[stage]) inside.push_back(all[s]);
    auto [found, is_new] = connected_[stage].try_emplace(std::move(inside));
    if (is_new) found->second = network_.connected_in(stage, changes);
    sum += found->second;
  }
  auto [found, is_new] = dead_.try_emplace(std::move(all));
  if (is_new) found->second = network_.dead(changes);
  return {inside_.empty() ? 1 : sum / static_cast<double>(inside_.size()), found->second};
}

}  // namespace lathe
