// summary.cpp: what came of a search. Interface: summary.h.
#include "results/summary.h"

#include <algorithm>
#include <cmath>

#include "strategies/strategy_ablation.h"

namespace lathe {
namespace {

constexpr double ms = 1e3;  // in a second

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<ResultLayer> layers_of(const StrategyInput& input, const Assignment& assignment,
                                   const std::optional<ResultVerdict>& verdict) {
  std::vector<ResultLayer> result;
  for (size_t s = 0; s < assignment.size(); ++s) {
    const LayerSite& site = input.space.sites[s];
    const LayerVariant &own = input.space.variant(s, 0),
                       &now = input.space.variant(s, assignment[s]);
    ResultLayer layer{site.layer, input.space.kinds[site.kind].description, label_of(now),
                      now.meaning};
    layer.before_ms = input.tables.times[s][0] * ms;
    layer.after_ms = input.tables.times[s][assignment[s]] * ms;
    layer.macs_before = own.macs;
    layer.macs = now.macs;
    layer.weights_before = own.weights;
    layer.weights = now.weights;
    layer.first_order = finite(input.tables.moved(s, assignment[s]));
    if (verdict) {
      auto exact = verdict->layers.find(site.layer);
      if (exact != verdict->layers.end()) layer.exact = exact->second;
    }
    result.push_back(std::move(layer));
  }
  return result;
}

ResultVariant variant_of(const StrategyInput& input, const LayerKind& kind, size_t v,
                         const Journal& journal) {
  const LayerVariant& variant = kind.variants[v];
  ResultVariant result{label_of(variant), variant.meaning, variant.macs, variant.weights};
  result.family = name_of(variant.family);
  auto trial = journal.find(kind.description, result.recipe);
  if (trial && trial->outcome == Trial::Outcome::failed) {
    result.failure = trial->reason;
    return result;
  }
  std::vector<size_t> sites = kind.sites;
  std::erase_if(sites, [&](size_t site) { return !is_possible(input.space, site, v); });
  result.before_ms = input.tables.times[kind.sites.front()][0] * ms;
  if (sites.empty()) return result;
  result.after_ms = finite(input.tables.times[sites.front()][v] * ms);
  double sum = 0;
  for (size_t site : sites) sum += input.tables.moved(site, v);
  result.first_order = finite(sum / static_cast<double>(sites.size()));
  return result;
}

ResultPoint point_of(const StrategyInput& input, const Winner& winner) {
  ResultPoint point{print(winner.recipe), winner.time * ms, winner.own * ms};
  ResultVerdict verdict = verdict_from_json(winner.verdict);
  point.ratio = verdict.ratio;
  point.predicted = verdict.predicted;
  point.macs = macs_of(input.space, winner.assignment);
  point.weights = weights_of(input.space, winner.assignment);
  return point;
}

bool is_better(const ResultPoint& a, const ResultPoint& b) {
  double time_a = a.ms / a.original_ms, time_b = b.ms / b.original_ms;
  double points_a = a.predicted.value_or(0), points_b = b.predicted.value_or(0);
  bool no_worse = time_a <= time_b && points_a >= points_b && a.weights <= b.weights;
  return no_worse && (time_a < time_b || points_a > points_b || a.weights < b.weights);
}

}  // namespace

std::vector<ResultPoint> not_dominated(std::vector<ResultPoint> points) {
  std::vector<ResultPoint> result;
  for (const ResultPoint& point : points) {
    bool dominated = std::any_of(points.begin(), points.end(),
                                 [&](const ResultPoint& other) { return is_better(other, point); });
    if (!dominated) result.push_back(point);
  }
  std::sort(result.begin(), result.end(), [](const ResultPoint& a, const ResultPoint& b) {
    return a.ms * b.original_ms < b.ms * a.original_ms;
  });
  return result;
}

ResultBaseline baseline_of(const StrategyInput& input, const SearchReport& report,
                           const std::string& way) {
  ResultBaseline result{.way = way, .tried = report.tried, .refused = report.refused};
  if (!report.best) return result;
  const Winner& best = *report.best;
  result.ms = best.time * ms;
  result.original_ms = best.own * ms;
  result.macs = macs_of(input.space, best.assignment);
  result.weights = weights_of(input.space, best.assignment);
  result.recipe = print(best.recipe);
  return result;
}

std::vector<ResultFamilies> families_of(const StrategyInput& input, const Assignment& winner) {
  double original = time_of(input.tables, Assignment(input.space.sites.size(), 0));
  std::vector<ResultFamilies> result;
  for (const AblationWay& way : ablation(input, winner)) {
    result.push_back({way.families, way.time * ms, original * ms, way.predicted, way.used});
  }
  return result;
}

long most_variants(const NetworkSpace& space) {
  size_t most = 0;
  for (const LayerKind& kind : space.kinds) most = std::max(most, kind.variants.size());
  return static_cast<long>(most);
}

SearchResult summarised(const StrategyInput& input, const SearchReport& report,
                        const Journal& journal) {
  SearchResult result;
  const NetworkSpace& space = input.space;
  Assignment assignment(space.sites.size(), 0);
  result.rule = {input.rule.name,
                 input.rule.tolerance,
                 input.rule.network_band,
                 input.rule.layer_band,
                 input.rule.is_paper,
                 input.rule.features.empty() ? "" : input.rule.features.front().metric};
  double own = input.tables.rest;
  for (const auto& times : input.tables.times) own += times[0];
  result.original = {own * ms, space.macs, space.weights};
  result.log_networks = log_size(space);
  result.winner.ms = result.winner.original_ms = own * ms;
  result.found =
      report.best && !report.best->recipe.empty() && report.best->time < report.best->own;
  if (result.found) {
    const Winner& best = *report.best;
    assignment = best.assignment;
    result.original.ms = best.own * ms;
    result.winner.ms = best.time * ms;
    result.winner.original_ms = best.own * ms;
    result.winner.spread = best.spread * ms;
    result.winner.recipe = best.recipe;
    result.winner.verdict = verdict_from_json(best.verdict);
    result.winner.checks = best.checks;
    result.winner.original_checks = best.original_checks;
  }
  result.winner.macs = macs_of(space, assignment);
  result.winner.weights = weights_of(space, assignment);
  result.stopped = report.stopped;
  result.tried = report.tried;
  result.refused = report.refused;
  result.failed = report.failed;
  result.reasons = report.reasons;
  result.layers = layers_of(input, assignment, result.winner.verdict);
  result.rest_ms = input.tables.rest * ms;
  for (const LayerKind& kind : space.kinds) {
    ResultKind each{kind.description, {}, {}};
    for (size_t site : kind.sites) each.sites.push_back(space.sites[site].layer);
    for (size_t v = 0; v < kind.variants.size(); ++v) {
      each.variants.push_back(variant_of(input, kind, v, journal));
    }
    result.kinds.push_back(std::move(each));
  }
  for (const Winner& passed : report.passed) result.pareto.push_back(point_of(input, passed));
  result.pareto = not_dominated(std::move(result.pareto));
  return result;
}

}  // namespace lathe
