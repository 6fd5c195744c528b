// limits.cpp: limits of a search. Interface: limits.h.
#include "jobs/limits.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lathe {
namespace {

constexpr long unlimited = std::numeric_limits<long>::max();
constexpr double ms = 1e3;  // in a second

/// Returns the least of something that a network of the space can have.
long least_of(const NetworkSpace& space, long now, long LayerVariant::*what) {
  for (size_t s = 0; s < space.sites.size(); ++s) {
    long own = space.variant(s, 0).*what, best = own;
    for (const LayerVariant& variant : space.kinds[space.sites[s].kind].variants) {
      best = std::min(best, variant.*what);
    }
    now -= own - best;
  }
  return now;
}

/// Returns the seconds of the fastest network that the tables can tell of.
double least_time(const LayerTables& tables) {
  double sum = tables.rest;
  for (const auto& times : tables.times) sum += *std::min_element(times.begin(), times.end());
  return sum;
}

void check_count(const char* option, const char* what, long limit, long least, long now) {
  if (limit >= least) return;
  fail("{} {}: no network here has so few {}; the least is {}, {} more, and the original has {}",
       option, limit, what, least, least - limit, now);
}

}  // namespace

long least_weights(const NetworkSpace& space) {
  return least_of(space, space.weights, &LayerVariant::weights);
}

long least_macs(const NetworkSpace& space) {
  return least_of(space, space.macs, &LayerVariant::macs);
}

void check_reachable(const NetworkLimits& limits, const NetworkSpace& space) {
  check_count("--max-params", "weights", limits.weights, least_weights(space), space.weights);
  check_count("--max-macs", "MACs", limits.macs, least_macs(space), space.macs);
}

void check_reachable(const NetworkLimits& limits, double rest, double all) {
  if (rest <= limits.time) return;
  fail(
      "--constraint latency={:.3g}ms: what cannot change takes {:.3g} ms alone, {:.3g} ms more, "
      "and the original {:.3g} ms",
      limits.time * ms, rest * ms, (rest - limits.time) * ms, all * ms);
}

bool is_kept_by_original(const NetworkLimits& limits, const NetworkSpace& space, double seconds) {
  return std::isfinite(limits.time) && seconds <= limits.time && space.weights <= limits.weights &&
         space.macs <= limits.macs;
}

std::vector<ResultLimit> limits_reached(const StrategyInput& input, const SearchResult& result,
                                        double fastest) {
  std::vector<ResultLimit> all;
  const NetworkLimits& limits = input.limits;
  auto add = [&](const char* what, double limit, double original, double winners, double least) {
    ResultLimit each{what, limit, winners};
    if (!result.found && original > limit) each.reached = least;
    each.met = (result.found ? winners : original) <= limit;
    all.push_back(each);
  };
  if (std::isfinite(limits.time)) {
    double least = std::isfinite(fastest) ? fastest : least_time(input.tables);
    add("latency", limits.time * ms, result.original.ms, result.winner.ms, least * ms);
  }
  auto add_count = [&](const char* what, long limit, long now, long winners, long least) {
    if (limit == unlimited) return;
    add(what, static_cast<double>(limit), static_cast<double>(now), static_cast<double>(winners),
        static_cast<double>(least));
  };
  add_count("weights", limits.weights, input.space.weights, result.winner.weights,
            least_weights(input.space));
  add_count("MACs", limits.macs, input.space.macs, result.winner.macs, least_macs(input.space));
  return all;
}

}  // namespace lathe
