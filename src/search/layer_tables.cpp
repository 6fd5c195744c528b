// layer_tables.cpp: measuring and scoring the variants of layers. Interface: layer_tables.h.
#include "search/layer_tables.h"

#include <array>
#include <cmath>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "program/layers.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Adds up the times of nodes by layer; what the original does not have belongs to the layer before
/// it. The last sum is of all other nodes.
std::vector<double> by_site(const NetworkSpace& space, const std::vector<NodeTime>& nodes,
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

/// Measures variants of several kinds in one network, and writes what came of them.
class LayerMeasuring {
 public:
  LayerMeasuring(const NetworkSpace& space, const Graph& network, NetworkBench& bench,
                 Journal& journal, uint64_t seed)
      : space_(space), network_(network), bench_(bench), journal_(journal), seed_(seed) {}

  std::optional<Trial> known(size_t kind, size_t variant) const {
    return journal_.find(space_.kinds[kind].description,
                         label_of(space_.kinds[kind].variants[variant]));
  }

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
    for (const Change& change : changes) measure({change});
  }

  /// Measures the coupled variants of an assignment, unless all are known.
  void measure_coupled(const Assignment& assignment) {
    std::set<Change> found;
    for (size_t s = 0; s < assignment.size(); ++s) {
      Change change{space_.sites[s].kind, assignment[s]};
      if (assignment[s] != 0 && !known(change.first, change.second)) found.insert(change);
    }
    if (found.empty()) return;
    std::vector<Change> changes(found.begin(), found.end());
    NetworkTimes times = times_of(assignment);
    if (times.failure.empty()) return add(changes, assignment, times);
    for (const Change& change : changes) add_failure(change, times.failure);
  }

 private:
  const NetworkSpace& space_;
  const Graph& network_;
  NetworkBench& bench_;
  Journal& journal_;
  uint64_t seed_;

  NetworkTimes times_of(const Assignment& assignment) {
    try {
      Graph candidate = transformed(network_, recipe_of(space_, assignment));
      return bench_.measure(initialised(candidate, seed_));
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
        .recipe = label_of(variant),
        .details = {
            {"meaning", variant.meaning}, {"macs", variant.macs}, {"weights", variant.weights}}};
  }

  void add(const std::vector<Change>& changes, const Assignment& assignment,
           const NetworkTimes& times) {
    std::vector<double> own = by_site(space_, times.own_nodes, times.own_nodes);
    std::vector<double> now = by_site(space_, times.nodes, times.own_nodes);
    for (const Change& change : changes) {
      Trial trial = trial_of(change);
      std::vector<size_t> sites = space_.kinds[change.first].sites;
      std::erase_if(sites, [&](size_t site) { return assignment[site] != change.second; });
      for (size_t site : sites) {
        trial.own += own[site] / static_cast<double>(sites.size());
        trial.time += now[site] / static_cast<double>(sites.size());
      }
      trial.details["rest"] = own.back();
      journal_.add(trial);
    }
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

/// Returns networks that have every coupled variant: those in which all links have fewer channels,
/// and those in which every second one has, as layers between two of those have other variants.
std::vector<Assignment> coupled_assignments(const NetworkSpace& space) {
  std::array<std::vector<ChannelLink>, 2> halves;
  for (size_t i = 0; i < space.links.size(); ++i) halves[i % 2].push_back(space.links[i]);
  std::vector<Assignment> result;
  for (size_t nth = 0, before = 0; nth == 0 || result.size() > before; ++nth) {
    before = result.size();
    for (const auto& links : {space.links, halves[0], halves[1]}) {
      Assignment assignment(space.sites.size(), 0);
      shrink(space, links, nth, assignment);
      bool is_new = std::find(result.begin(), result.end(), assignment) == result.end();
      if (is_new && !links.empty()) result.push_back(std::move(assignment));
    }
  }
  return result;
}

/// Fills the tables from the journal: what a variant takes beside the original of the same run,
/// times what the original takes usually. Drift of the machine is then in neither.
void fill_times(LayerTables& tables, const NetworkSpace& space, const LayerMeasuring& measuring) {
  tables.times.assign(space.sites.size(), {});
  std::vector<double> rests;
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    const LayerKind& kind = space.kinds[k];
    std::vector<double> ratios, owns;
    for (size_t v = 0; v < kind.variants.size(); ++v) {
      std::optional<Trial> trial = measuring.known(k, v);
      bool failed = !trial || trial->outcome == Trial::Outcome::failed;
      ratios.push_back(failed || trial->own <= 0 ? infinity : trial->time / trial->own);
      if (failed || kind.variants[v].coupling) continue;
      owns.push_back(trial->own);
      rests.push_back(trial->details["rest"].get<double>());
    }
    if (owns.empty()) fail("{}: not even the layer as it is could be measured", kind.description);
    ratios.front() = 1;
    for (double& ratio : ratios) ratio *= median(owns);
    for (size_t site : kind.sites) {
      tables.times[site] = ratios;
      for (size_t v = 0; v < ratios.size(); ++v) {
        if (!is_possible(space, site, v)) tables.times[site][v] = infinity;
      }
    }
  }
  tables.rest = median(rests);
}

/// Scores variants in their places, to first order, each once.
class LayerScoring {
 public:
  LayerScoring(const NetworkSpace& space, FirstOrder& first, Journal& journal)
      : space_(space), first_(first), journal_(journal) {}

  /// Adds a variant to what run() scores, unless the journal knows it.
  void want(size_t site, size_t variant) {
    std::string of = " of " + name(site, variant);
    LayerChange change;
    for (const Metric& metric : first_.metrics()) {
      if (auto score = journal_.number(metric.name + of)) change.scores.push_back(*score);
    }
    auto gain = journal_.number("gain" + of);
    if (gain && change.scores.size() == first_.metrics().size()) {
      change.gain = *gain;
      known_[{site, variant}] = change;
    } else {
      jobs_.emplace_back(site, variant);
    }
  }

  bool run(const char* what, int workers, const TableOptions& options) {
    // Layers as they were come first: the others are of no use without them.
    std::stable_partition(jobs_.begin(), jobs_.end(),
                          [](const Job& job) { return job.second == 0; });
    std::mutex mutex;
    size_t done = 0;
    bool stopped = false;
    for_each_index(jobs_.size(), workers, [&](size_t i) {
      auto [site, variant] = jobs_[i];
      {
        std::lock_guard lock(mutex);
        if (options.stop && options.stop()) stopped = true;
        bool enough = variant != 0 && options.enough && options.enough();
        if (stopped || enough) return;
      }
      LayerChange change = changed(site, variant);
      std::lock_guard lock(mutex);
      known_[jobs_[i]] = change;
      std::string of = " of " + name(site, variant);
      for (size_t m = 0; m < change.scores.size(); ++m) {
        journal_.set_number(first_.metrics()[m].name + of, change.scores[m]);
      }
      journal_.set_number("gain" + of, change.gain);
      if (options.progress) options.progress({what, ++done, jobs_.size()});
    });
    return !stopped;
  }

  bool is_known(size_t site, size_t variant) const { return known_.contains({site, variant}); }
  /// Returns what is known; what is not is as far from the original as what cannot be scored.
  LayerChange known(size_t site, size_t variant) const {
    return is_known(site, variant) ? known_.at({site, variant}) : far_away();
  }

 private:
  using Job = std::pair<size_t, size_t>;  // a site and a variant

  const NetworkSpace& space_;
  FirstOrder& first_;
  Journal& journal_;
  std::vector<Job> jobs_;
  std::map<Job, LayerChange> known_;

  std::string name(size_t site, size_t variant) const {
    return space_.sites[site].layer + ": " + label_of(space_.variant(site, variant));
  }

  LayerChange changed(size_t site, size_t variant) const {
    try {
      return first_.change(space_.sites[site].layer, space_.variant(site, variant).recipe);
    } catch (const UserError&) {
      return far_away();
    }
  }

  /// Returns what is said of a variant that cannot be scored.
  LayerChange far_away() const {
    return {std::vector<double>(first_.metrics().size(), infinity), 1};
  }
};

/// Sets how gradients flow, and where the sites are in that.
void set_flow(LayerTables& tables, const NetworkSpace& space, FirstOrder& first) {
  tables.flow = first.flow();
  tables.places.assign(space.sites.size(), 0);
  const std::vector<LayerScore>& layers = first.original();
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t s = 0; s < space.sites.size(); ++s) {
      if (space.sites[s].layer == layers[i].layer) tables.places[s] = i;
    }
  }
}

/// Returns a table of what a metric says of the original.
MetricTable table_of(const FirstOrder& first, size_t metric) {
  const Score& original = first.original_scores()[metric];
  MetricTable table{first.metrics()[metric], {}, {}, original.total, original.layers.size()};
  for (const LayerScore& layer : first.original()) {
    auto found = std::find_if(original.layers.begin(), original.layers.end(),
                              [&](const LayerScore& own) { return own.layer == layer.layer; });
    table.own.push_back(found == original.layers.end() ? 0 : found->score);
  }
  return table;
}

/// Returns how far a variant is from the layer as it was, by all metrics that do not measure its
/// size: it is to become small.
double distance_between(const LayerChange& own, const LayerChange& change,
                        const std::vector<Metric>& metrics) {
  double sum = std::abs(std::log(change.gain));
  for (size_t m = 0; m < metrics.size(); ++m) {
    const Contribution& contributes = metrics[m].contributes;
    if (contributes.measures == Contribution::Measures::size) continue;
    // What is summed up is compared by its ratio; a mean is one of logarithms.
    bool is_sum = contributes.whole == Contribution::Whole::sum;
    sum += std::abs(is_sum ? std::log(change.scores[m] / own.scores[m])
                           : change.scores[m] - own.scores[m]);
  }
  return sum;
}

/// What a layer scores, as it was and as it is now.
struct LayerNow {
  double own = 0, now = 0;

  double log_ratio() const { return own > 0 && now > 0 ? std::log(now / own) : 0; }
};

/// Compares a network with the original by one metric.
Comparison compared_by(const MetricTable& table, const std::vector<size_t>& places,
                       const Assignment& assignment, const std::vector<double>& received) {
  const Contribution& contributes = table.metric.contributes;
  std::vector<LayerNow> layers;
  for (double own : table.own) layers.push_back({own, own});
  double sum = 0;  // of differences
  for (size_t s = 0; s < assignment.size(); ++s) {
    layers[places[s]] = {table.scores[s][0], table.scores[s][assignment[s]]};
  }
  Comparison result{table.metric.name, {}, {}, {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].now *= std::pow(received[i], contributes.first_order->gradient);
    sum += layers[i].now - layers[i].own;
    result.layers.push_back({"", layers[i].log_ratio()});
  }
  // Layers that are no convolutions, or that others score, stay as they are.
  if (result.layers.size() < table.layers) result.layers.resize(table.layers);
  bool is_mean = contributes.whole == Contribution::Whole::mean;
  double difference = is_mean ? sum / static_cast<double>(table.layers) : sum;
  result.differences = {difference};
  if (table.total > 0) result.log_ratios = {std::log((table.total + difference) / table.total)};
  return result;
}

}  // namespace

double time_of_rest(const NetworkSpace& space, const NetworkTimes& times) {
  return by_site(space, times.own_nodes, times.own_nodes).back();
}

bool measure_layers(LayerTables& tables, const NetworkSpace& space, const Graph& network,
                    NetworkBench& bench, Journal& journal, const TableOptions& options) {
  LayerMeasuring measuring(space, network, bench, journal, options.seed);
  std::vector<Assignment> coupled = coupled_assignments(space);
  size_t alone = most_alone(space), done = 0, all = count_alone(space) + coupled.size();
  auto is_stopped = [&] { return options.stop && options.stop(); };
  auto is_enough = [&] { return options.enough && options.enough(); };
  auto add = [&](size_t more) {
    done += more;
    if (options.progress) options.progress({"variants measured", done, all});
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
    if (!changes.empty()) measuring.measure(changes);
    add(of_round);
  }
  for (const Assignment& assignment : coupled) {
    if (is_enough()) break;
    if (is_stopped()) return false;
    measuring.measure_coupled(assignment);
    add(1);
  }
  fill_times(tables, space, measuring);
  return true;
}

std::optional<NetworkSpace> screened(const NetworkSpace& space, size_t most, const GateRule& rule,
                                     FirstOrder& first, Journal& journal, int workers,
                                     const TableOptions& options) {
  LayerScoring scoring(space, first, journal);
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    for (size_t v = 0; v < space.kinds[k].variants.size(); ++v) {
      scoring.want(space.kinds[k].sites.front(), v);
    }
  }
  if (!scoring.run("variants looked at", workers, options)) return std::nullopt;
  return narrowed(space, most, [&](size_t kind, size_t variant) {
    size_t site = space.kinds[kind].sites.front();
    LayerChange own = scoring.known(site, 0), change = scoring.known(site, variant);
    double moved = std::log(change.scores.front() / own.scores.front());
    if (rule.is_paper) return 0.0;  // it was published with no such choice: few steps are enough
    if (std::abs(moved) > rule.layer_band) return infinity;
    return distance_between(own, change, first.metrics());
  });
}

bool score_layers(LayerTables& tables, const NetworkSpace& space, FirstOrder& first,
                  Journal& journal, int workers, const TableOptions& options) {
  LayerScoring scoring(space, first, journal);
  auto for_each = [&](const auto& use) {
    for (size_t s = 0; s < space.sites.size(); ++s) {
      for (size_t v = 0; v < tables.times[s].size(); ++v) {
        if (std::isfinite(tables.times[s][v])) use(s, v);
      }
    }
  };
  for_each([&](size_t s, size_t v) { scoring.want(s, v); });
  if (!scoring.run("variants scored", workers, options)) return false;
  set_flow(tables, space, first);
  tables.gains = tables.times;  // its shape
  tables.metrics.clear();
  for (size_t m = 0; m < first.metrics().size(); ++m) {
    tables.metrics.push_back(table_of(first, m));
    tables.metrics.back().scores = tables.times;
  }
  for_each([&](size_t s, size_t v) {
    LayerChange change = scoring.known(s, v);
    if (!scoring.is_known(s, v)) tables.times[s][v] = infinity;  // never chosen
    tables.gains[s][v] = change.gain;
    for (size_t m = 0; m < tables.metrics.size(); ++m) {
      tables.metrics[m].scores[s][v] = change.scores[m];
    }
  });
  return true;
}

double time_of(const LayerTables& tables, const Assignment& assignment) {
  double time = tables.rest;
  for (size_t s = 0; s < assignment.size(); ++s) time += tables.times[s][assignment[s]];
  return time;
}

std::vector<Comparison> compared_first(const LayerTables& tables, const Assignment& assignment) {
  std::vector<double> gains(tables.metrics.front().own.size(), 1);
  for (size_t s = 0; s < assignment.size(); ++s) {
    gains[tables.places[s]] = tables.gains[s][assignment[s]];
  }
  std::vector<double> received = tables.flow.received(gains);
  std::vector<Comparison> result;
  for (const MetricTable& table : tables.metrics) {
    result.push_back(compared_by(table, tables.places, assignment, received));
  }
  return result;
}

double LayerTables::moved(size_t site, size_t variant) const {
  const std::vector<double>& scores = metrics.front().scores[site];
  return std::log(scores[variant] / scores[0]);
}

FirstJudgement judge_first(const GateRule& rule, const NetworkSpace& space,
                           const LayerTables& tables, const Assignment& assignment) {
  FirstJudgement result;
  result.time = time_of(tables, assignment);
  std::vector<Comparison> comparisons = compared_first(tables, assignment);
  const Comparison& bands = comparisons.front();
  result.log_ratio = bands.log_ratios.empty() ? infinity : bands.log_ratios.front();
  for (size_t place : tables.places) result.layers.push_back(bands.layers[place].log_ratio);
  bool is_known = std::isfinite(result.log_ratio);
  for (size_t i = 0; is_known && i < rule.features.size(); ++i) {
    for (const Comparison& c : comparisons) {
      if (c.metric != rule.features[i].metric) continue;
      result.predicted += rule.weights[i] * value_of(rule.features[i], c);
    }
  }
  result.predicted *= 1 + rule.beyond_share;
  result.unknown = rule.beyond_deviation;
  if (!agrees(space, assignment)) {
    result.reason = "coupled layers would have different channels";
    return result;
  }
  bool within = is_known && is_within_bands(rule, bands);
  bool keeps = rule.is_paper || result.predicted >= -rule.tolerance;
  result.accepted = within && keeps;
  if (!within) result.reason = bands.metric + " moved too far, to first order";
  if (within && !keeps) result.reason = "too much accuracy is expected to be lost, to first order";
  return result;
}

}  // namespace lathe
