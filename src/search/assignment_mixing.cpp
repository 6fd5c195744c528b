// assignment_mixing.cpp: relations of channels, variant by variant. Interface: assignment_mixing.h.
#include "search/assignment_mixing.h"

#include <algorithm>

#include "base/error.h"
#include "transforms/transform.h"
#include "transforms/transform_precision.h"

namespace lathe {
AssignmentMixing::AssignmentMixing(const Graph& network, const NetworkSpace& space)
    : network_(network) {
  for (const LayerSite& site : space.sites) {
    auto node = find_node(network, site.layer);
    check(node.has_value(), "the sites of a space are layers of its network");
    nodes_.push_back(*node);
    kinds_.push_back(site.kind);
  }
  original_ = network_.with({});
  inside_.resize(network_.stages());
  connected_.resize(network_.stages());
  for (size_t stage = 0; stage < inside_.size(); ++stage) {
    for (size_t s = 0; s < nodes_.size(); ++s) {
      if (network_.is_inside(stage, nodes_[s])) inside_[stage].push_back(s);
    }
  }
  auto site_of = [&](size_t node) -> std::optional<size_t> {
    auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found == nodes_.end()) return std::nullopt;
    return static_cast<size_t>(found - nodes_.begin());
  };
  for (const NetworkMixing::Neighbours& pair : network_.neighbours()) {
    neighbours_.push_back({site_of(pair.first), site_of(pair.second)});
  }
  connected_by_.resize(neighbours_.size());
  for (const LayerKind& kind : space.kinds) {
    layers_.push_back(call_of(network, network.nodes[nodes_[kind.sites.front()]]));
    made_.emplace_back();
    for (const LayerVariant& variant : kind.variants) {
      made_.back().push_back(without_precision(variant.recipe));
    }
  }
}

/// Returns which channels a layer connects after the recipe of a variant; null if it connects those
/// that it did. Each is found once, when it is asked for: few of all variants are.
const BitMatrix* AssignmentMixing::relation(size_t kind, size_t variant) const {
  const BitMatrix* found = nullptr;
  {
    std::lock_guard lock(mutex_);
    auto place = of_.find({kind, variant});
    if (place != of_.end()) found = place->second;
  }
  if (found == nullptr) {
    Context context;
    Nest nest = samples_inward(nest_of(context, layers_[kind]));
    for (const Step& step : made_[kind][variant]) nest = apply(nest, step).nest;
    BitMatrix made = reached(nest, 0);
    std::lock_guard lock(mutex_);
    found = &*relations_.insert(std::move(made)).first;
    of_[{kind, variant}] = found;
  }
  if (variant == 0) return found;
  return found == relation(kind, 0) ? nullptr : found;
}

template <class Key, class Find>
double AssignmentMixing::known(std::map<Key, double>& results, Key key, const Find& find) const {
  {
    std::lock_guard lock(mutex_);
    auto found = results.find(key);
    if (found != results.end()) return found->second;
  }
  double result = find();  // outside the lock: it may take long
  std::lock_guard lock(mutex_);
  results.emplace(std::move(key), result);
  return result;
}

double AssignmentMixing::of(const Assignment& assignment, double Mixing::*share) const {
  Relations all(assignment.size(), nullptr);
  NetworkMixing::Changes changes;
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (assignment[s] != 0) all[s] = relation(kinds_[s], assignment[s]);
    if (all[s] != nullptr) changes[nodes_[s]] = all[s];
  }
  if (share == &Mixing::connected) return connected(all, changes);
  if (share == &Mixing::neighbours) return neighbours(all, changes);
  if (share == &Mixing::dead) return known(dead_, all, [&] { return network_.dead(changes); });
  check(share == &Mixing::across, "each share of a mixing is known for assignments");
  return known(across_, all, [&] { return network_.across(changes); });
}

double AssignmentMixing::connected(const Relations& all,
                                   const NetworkMixing::Changes& changes) const {
  double sum = 0;
  for (size_t stage = 0; stage < inside_.size(); ++stage) {
    Relations inside;
    for (size_t s : inside_[stage]) inside.push_back(all[s]);
    sum += known(connected_[stage], std::move(inside),
                 [&] { return network_.connected_in(stage, changes); });
  }
  return inside_.empty() ? 1 : sum / static_cast<double>(inside_.size());
}

double AssignmentMixing::neighbours(const Relations& all,
                                    const NetworkMixing::Changes& changes) const {
  auto relation_at = [&](std::optional<size_t> site) { return site ? all[*site] : nullptr; };
  double sum = 0;
  for (size_t pair = 0; pair < neighbours_.size(); ++pair) {
    Pair relations{relation_at(neighbours_[pair].first), relation_at(neighbours_[pair].second)};
    double found =
        known(connected_by_[pair], relations, [&] { return network_.connected_by(pair, changes); });
    sum += network_.neighbours()[pair].weight * found;
  }
  return neighbours_.empty() ? 1 : sum;
}

}  // namespace lathe
