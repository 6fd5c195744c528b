// layer_times.cpp: measuring the variants of layers. Interface: layer_tables.h.
#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "program/layers.h"
#include "search/layer_tables.h"
#include "search/width_tables.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Under which names trials have the seconds of what belongs to no site.
constexpr const char *rest_of_all = "rest", *rest_of_links = "rest with links";

/// Measures variants of several kinds in one network, and writes what came of them.
class LayerMeasuring {
 public:
  LayerMeasuring(const NetworkSpace& space, const Graph& network, NetworkMeasurer& bench,
                 Journal& journal, const TableOptions& options)
      : space_(space), network_(network), bench_(bench), journal_(journal), options_(options) {}

  std::optional<Trial> known(size_t kind, size_t variant) const {
    return journal_.find(space_.kinds[kind].description,
                         label(space_.kinds[kind].variants[variant]));
  }

  /// Are layers measured in another precision than that of the original?
  bool is_narrow() const { return options_.precision != Precision::f32; }

  /// A kind and the number of its variant.
  using Change = std::pair<size_t, size_t>;

  /// Measures variants in all places of their kinds.
  void measure(const std::vector<Change>& changes) {
    Assignment assignment(space_.sites.size(), 0);
    for (auto [kind, variant] : changes) {
      for (size_t site : space_.kinds[kind].sites) assignment[site] = variant;
    }
    NetworkTimes times = times_of(assignment);
    if (times.failure.empty()) return add(changes, assignment, times);
    if (changes.size() == 1) return add_failure(changes.front(), times.failure);
    bool waits = false;
    for (const Change& change : changes) {
      try {
        measure({change});
      } catch (const JobsWait&) {
        waits = true;
      }
    }
    if (waits) throw JobsWait();
  }

  /// Measures the coupled variants of an assignment, unless all are known.
  void measure_coupled(const Assignment& assignment) {
    std::set<Change> found;
    for (size_t s = 0; s < assignment.size(); ++s) {
      Change change{space_.sites[s].kind, assignment[s]};
      if (assignment[s] == 0 || waiting_.contains(change)) continue;
      if (!known(change.first, change.second)) found.insert(change);
    }
    if (found.empty()) return;
    std::vector<Change> changes(found.begin(), found.end());
    NetworkTimes times;
    try {
      times = times_of(assignment);
    } catch (const JobsWait&) {
      waiting_.insert(found.begin(), found.end());
      throw;
    }
    if (times.failure.empty()) return add(changes, assignment, times);
    for (const Change& change : changes) add_failure(change, times.failure);
  }

 private:
  const NetworkSpace& space_;
  const Graph& network_;
  NetworkMeasurer& bench_;
  Journal& journal_;
  const TableOptions& options_;
  std::set<Change> waiting_;  ///< coupled variants that are measured elsewhere

  /// Prints a variant, as it is measured.
  std::string label(LayerVariant variant) const {
    variant.recipe = with_precision(variant.recipe, options_.precision);
    return label_of(variant);
  }

  NetworkTimes times_of(const Assignment& assignment) {
    try {
      NetworkRecipe recipe = recipe_of(space_, assignment);
      return bench_.measure_made(recipe, [&] {
        Graph candidate = initialised(transformed(network_, recipe), options_.seed);
        return options_.finish ? options_.finish(candidate, recipe) : candidate;
      });
    } catch (const UserError& error) {
      NetworkTimes times;
      times.failure = error.what();
      return times;
    }
  }

  Trial trial_of(const Change& change) const {
    const LayerKind& kind = space_.kinds[change.first];
    const LayerVariant& variant = kind.variants[change.second];
    return {
        .subject = kind.description,
        .recipe = label(variant),
        .details = {
            {"meaning", variant.meaning}, {"macs", variant.macs}, {"weights", variant.weights}}};
  }

  void add(const std::vector<Change>& changes, const Assignment& assignment,
           const NetworkTimes& times) {
    std::vector<double> own = times_by_site(space_, times.own_nodes, times.own_nodes);
    std::vector<double> now = times_by_site(space_, times.nodes, times.own_nodes);
    for (const Change& change : changes) {
      Trial trial = trial_of(change);
      std::vector<size_t> sites = space_.kinds[change.first].sites;
      std::erase_if(sites, [&](size_t site) { return assignment[site] != change.second; });
      for (size_t site : sites) {
        trial.own += own[site] / static_cast<double>(sites.size());
        trial.time += now[site] / static_cast<double>(sites.size());
      }
      set_rest(trial.details, own);
      journal_.add(trial);
    }
  }

  /// Sets the seconds of what belongs to no site. A space without links, which the journal may be
  /// asked for later, has none of the sites that only links change.
  void set_rest(nlohmann::json& details, const std::vector<double>& own) const {
    double dependent = 0;
    for (size_t s = 0; s < space_.sites.size(); ++s) {
      if (space_.kinds[space_.sites[s].kind].dependent) dependent += own[s];
    }
    details[rest_of_all] = own.back() + dependent;
    if (!space_.links.empty()) details[rest_of_links] = own.back();
  }

  void add_failure(const Change& change, const std::string& reason) {
    Trial trial = trial_of(change);
    trial.outcome = Trial::Outcome::failed;
    trial.reason = reason;
    journal_.add(trial);
  }
};

size_t count_alone(const LayerKind& kind) {
  auto alone = std::count_if(kind.variants.begin(), kind.variants.end(),
                             [](const LayerVariant& v) { return !v.coupling; });
  return static_cast<size_t>(alone);
}

/// Returns how many variants of all kinds are not coupled.
size_t count_alone(const NetworkSpace& space) {
  size_t count = 0;
  for (const LayerKind& kind : space.kinds) count += count_alone(kind);
  return count;
}

/// Returns how many variants a kind has at most that are not coupled: those come first.
size_t most_alone(const NetworkSpace& space) {
  size_t most = 0;
  for (const LayerKind& kind : space.kinds) most = std::max(most, count_alone(kind));
  return most;
}

/// Fills the tables from the journal: what a variant takes beside the original of the same run,
/// times what the original takes usually. Drift of the machine is then in neither.
void fill_times(LayerTables& tables, const NetworkSpace& space, const LayerMeasuring& measuring) {
  tables.times.assign(space.sites.size(), {});
  const char* rest = space.links.empty() ? rest_of_all : rest_of_links;
  std::vector<double> rests;
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    const LayerKind& kind = space.kinds[k];
    std::vector<double> ratios, owns;
    std::vector<bool> tried;
    for (size_t v = 0; v < kind.variants.size(); ++v) {
      std::optional<Trial> trial = measuring.known(k, v);
      bool failed = !trial || trial->outcome == Trial::Outcome::failed;
      tried.push_back(trial.has_value());
      ratios.push_back(failed || trial->own <= 0 ? infinity : trial->time / trial->own);
      if (failed || kind.variants[v].coupling) continue;
      owns.push_back(trial->own);
      if (trial->details.contains(rest)) rests.push_back(trial->details[rest].get<double>());
    }
    if (owns.empty()) fail("{}: not even the layer as it is could be measured", kind.description);
    if (!measuring.is_narrow()) ratios.front() = 1;
    interpolate_widths(kind, ratios, tried);
    for (double& ratio : ratios) ratio *= median(owns);
    for (size_t site : kind.sites) {
      tables.times[site] = ratios;
      for (size_t v = 0; v < ratios.size(); ++v) {
        if (!is_possible(space, site, v)) tables.times[site][v] = infinity;
      }
    }
  }
  check(!rests.empty(), "a kind of layer was measured in this space");
  tables.rest = median(rests);
}

}  // namespace

std::vector<double> times_by_site(const NetworkSpace& space, const std::vector<NodeTime>& nodes,
                                  const std::vector<NodeTime>& original) {
  std::vector<double> sums(space.sites.size() + 1, 0);
  size_t current = space.sites.size();
  std::vector<std::string> names;
  for (const LayerSite& site : space.sites) names.push_back(site.layer);
  for (const NodeTime& node : nodes) {
    std::optional<size_t> site = layer_with(node.node, names);
    bool is_known = std::any_of(original.begin(), original.end(),
                                [&](const NodeTime& other) { return other.node == node.node; });
    if (site) {
      current = *site;
    } else if (is_known) {
      sums.back() += node.seconds;
      continue;
    }
    sums[current] += node.seconds;
  }
  return sums;
}

double time_of_rest(const NetworkSpace& space, const NetworkTimes& times) {
  return times_by_site(space, times.own_nodes, times.own_nodes).back();
}

bool measure_layers(LayerTables& tables, const NetworkSpace& space, const Graph& network,
                    NetworkMeasurer& bench, Journal& journal, const TableOptions& options) {
  LayerMeasuring measuring(space, network, bench, journal, options);
  std::vector<Assignment> coupled = coupled_assignments(space);
  size_t alone = most_alone(space), done = 0, all = count_alone(space) + coupled.size();
  auto is_stopped = [&] { return options.stop && options.stop(); };
  auto is_enough = [&] { return options.enough && options.enough(); };
  auto add = [&](size_t more) {
    done += more;
    if (options.progress) options.progress({"variants measured", done, all});
  };
  bool waits = false;
  // Where the device is elsewhere, all is asked for before anybody waits.
  auto measure = [&](const auto& work, size_t count) {
    try {
      work();
      add(count);
    } catch (const JobsWait&) {
      waits = true;
    }
  };
  add(0);
  for (size_t v = 0; v < alone && (v == 0 || !is_enough()); ++v) {
    if (is_stopped()) return false;
    size_t of_round = 0;
    std::vector<LayerMeasuring::Change> changes;
    for (size_t k = 0; k < space.kinds.size(); ++k) {
      const auto& variants = space.kinds[k].variants;
      if (v >= variants.size() || variants[v].coupling) continue;
      ++of_round;
      if (!measuring.known(k, v)) changes.emplace_back(k, v);
    }
    auto work = [&] {
      if (!changes.empty()) measuring.measure(changes);
    };
    measure(work, of_round);
  }
  for (const Assignment& assignment : coupled) {
    if (is_enough()) break;
    if (is_stopped()) return false;
    measure([&] { measuring.measure_coupled(assignment); }, 1);
  }
  if (waits) throw JobsWait();
  fill_times(tables, space, measuring);
  return true;
}

}  // namespace lathe
