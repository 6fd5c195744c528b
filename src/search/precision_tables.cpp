// precision_tables.cpp: see precision_tables.h.
#include "search/precision_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "program/layers.h"

namespace lathe {
namespace {

/// The subject of trials in the journal.
constexpr const char* subject = "network in one precision";

/// Returns the variant in another precision.
LayerVariant in_precision(LayerVariant variant, Precision precision) {
  variant.recipe = with_precision(variant.recipe, precision);
  if (variant.coupling) {
    variant.coupling->recipe = with_precision(variant.coupling->recipe, precision);
  }
  if (precision == Precision::f32) return variant;
  bool is_same = variant.family == Family::same;
  variant.meaning =
      is_same ? name_of(precision) : fmt::format("{}, {}", variant.meaning, name_of(precision));
  return variant;
}

/// How long layers take in one precision, in terms of the base.
class Relative {
 public:
  Relative(const PrecisionTable& table, const PrecisionTable& base)
      : table_(table), base_(base), drift_(base.own / table.own) {}

  /// Returns the seconds of a site in this precision that takes so long in the base.
  double time(size_t site, double in_base) const {
    double own = table_.layers[site] * drift_, base = base_.layers[site];
    return own > 0 && base > 0 ? in_base * own / base : in_base;
  }

 private:
  const PrecisionTable& table_;
  const PrecisionTable& base_;
  double drift_;  // of the machine, between the two runs
};

const PrecisionTable& table_of(const std::vector<PrecisionTable>& tables, Precision precision) {
  auto found = std::find_if(tables.begin(), tables.end(), [&](const PrecisionTable& table) {
    return table.precision == precision;
  });
  check(found != tables.end(), "the network was measured in the base's precision");
  return *found;
}

/// Repeats a row of a table for each precision behind its first number.
std::vector<double> repeated(const std::vector<double>& row, size_t precisions) {
  std::vector<double> result;
  for (size_t p = 0; p < precisions; ++p) result.insert(result.end(), row.begin(), row.end());
  return result;
}

}  // namespace

NetworkSpace with_every_layer(NetworkSpace space, const Graph& network) {
  std::map<std::string, size_t> kinds;  // new ones, by the keys of their layers
  for (const Layer& layer : layers_of(network)) {
    bool is_site = std::any_of(space.sites.begin(), space.sites.end(),
                               [&](const LayerSite& site) { return site.layer == layer.name; });
    if (is_site || !is_layer(network.nodes[layer.node])) continue;
    auto [at, is_new] = kinds.try_emplace(layer.key, space.kinds.size());
    if (is_new) {
      LayerVariant same{.recipe = {}, .meaning = "as it was"};
      same.macs = layer.cost.macs;
      same.weights = layer.weights;
      space.kinds.push_back({layer.description, {same}, {}});
    }
    space.kinds[at->second].sites.push_back(space.sites.size());
    space.sites.push_back({layer.name, at->second});
  }
  return space;
}

PrecisionTable measured_in(Precision precision, const NetworkSpace& space, const Graph& narrow,
                           NetworkMeasurer& bench, Journal& journal) {
  PrecisionTable result;
  result.precision = precision;
  auto known = journal.find(subject, name_of(precision));
  if (!known) {
    NetworkTimes times = bench.measure(narrow);
    Trial trial{.subject = subject, .recipe = name_of(precision)};
    trial.time = times.time;
    trial.own = times.own;
    if (times.failure.empty()) {
      trial.details["layers"] = times_by_site(space, times.nodes, times.own_nodes);
    } else {
      trial.outcome = Trial::Outcome::failed;
      trial.reason = times.failure;
    }
    journal.add(trial);
    known = trial;
  }
  result.failure = known->reason;
  result.time = known->time;
  result.own = known->own;
  if (!result.failure.empty()) return result;
  known->details["layers"].get_to(result.layers);
  result.rest = result.layers.back();
  result.layers.pop_back();
  return result;
}

KnownSpace with_precisions(const NetworkSpace& space, const LayerTables& tables,
                           const std::vector<PrecisionTable>& precisions, Precision base) {
  std::vector<PrecisionTable> usable = {table_of(precisions, Precision::f32)};
  for (const PrecisionTable& table : precisions) {
    if (table.precision != Precision::f32 && table.failure.empty()) usable.push_back(table);
  }
  const PrecisionTable& in_base = table_of(usable, base);
  KnownSpace result{space, tables};
  for (LayerKind& kind : result.space.kinds) {
    std::vector<LayerVariant> all;
    for (const PrecisionTable& table : usable) {
      for (const LayerVariant& v : kind.variants) all.push_back(in_precision(v, table.precision));
    }
    kind.variants = std::move(all);
  }
  LayerTables& now = result.tables;
  now.rest = in_base.rest;
  now.points.assign(space.sites.size(), {});
  for (size_t s = 0; s < space.sites.size(); ++s) {
    now.gains[s] = repeated(tables.gains[s], usable.size());
    for (MetricTable& metric : now.metrics) {
      metric.scores[s] = repeated(metric.scores[s], usable.size());
    }
    now.times[s].clear();
    for (const PrecisionTable& table : usable) {
      Relative relative(table, in_base);
      double part = table.points / static_cast<double>(space.sites.size());
      for (double time : tables.times[s]) {
        now.times[s].push_back(relative.time(s, time));
        now.points[s].push_back(part);
      }
    }
  }
  return result;
}

std::optional<size_t> in_precision(const NetworkSpace& space, size_t site, size_t variant,
                                   Precision precision) {
  const LayerVariant& now = space.variant(site, variant);
  if (precision_of(now.recipe) == precision) return variant;
  Recipe wanted = with_precision(now.recipe, precision);
  const auto& all = space.kinds[space.sites[site].kind].variants;
  for (size_t v = 0; v < all.size(); ++v) {
    if (all[v].recipe == wanted && all[v].coupling.has_value() == now.coupling.has_value()) {
      return v;
    }
  }
  return std::nullopt;
}

}  // namespace lathe
