// layer_scores.cpp: scoring the variants of layers. Interface: layer_tables.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "search/layer_tables.h"
#include "search/width_tables.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Scores variants in their places, to first order, each once.
class LayerScoring {
 public:
  LayerScoring(const NetworkSpace& space, LayerScores& first, Journal& journal)
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
    std::vector<LayerQuestion> questions;
    for (auto [site, variant] : jobs_) questions.push_back(question(site, variant));
    std::mutex mutex;
    size_t done = 0;
    bool stopped = false;
    LayerAnswers answers;
    answers.wanted = [&](size_t i) {
      std::lock_guard lock(mutex);
      if (options.stop && options.stop()) stopped = true;
      bool enough = jobs_[i].second != 0 && options.enough && options.enough();
      return !stopped && !enough;
    };
    answers.tell = [&](size_t i, const std::optional<LayerChange>& answer) {
      std::lock_guard lock(mutex);
      add(jobs_[i], answer ? *answer : far_away());
      if (options.progress) options.progress({what, ++done, jobs_.size()});
    };
    first_.change_all(questions, workers, answers);
    return !stopped;
  }

  /// Does first order know the layer of a site? It knows convolutions.
  bool can_score(size_t site) const {
    const std::vector<LayerScore>& layers = first_.original();
    return std::any_of(layers.begin(), layers.end(), [&](const LayerScore& layer) {
      return layer.layer == space_.sites[site].layer;
    });
  }

  bool is_known(size_t site, size_t variant) const { return known_.contains({site, variant}); }
  /// Returns what is known; what is not is as far from the original as what cannot be scored.
  LayerChange known(size_t site, size_t variant) const {
    return is_known(site, variant) ? known_.at({site, variant}) : far_away();
  }

 private:
  using Job = std::pair<size_t, size_t>;  // a site and a variant

  const NetworkSpace& space_;
  LayerScores& first_;
  Journal& journal_;
  std::vector<Job> jobs_;
  std::map<Job, LayerChange> known_;

  std::string name(size_t site, size_t variant) const {
    return space_.sites[site].layer + ": " + label_of(space_.variant(site, variant));
  }

  LayerQuestion question(size_t site, size_t variant) const {
    const LayerVariant& changed = space_.variant(site, variant);
    std::optional<LayerWidth> width;
    if (const auto& c = changed.coupling) width = {c->filters, c->inputs, c->groups};
    return {space_.sites[site].layer, changed.recipe, width, space_.sites[site].kind};
  }

  /// Keeps what is known of a variant.
  void add(const Job& job, const LayerChange& change) {
    known_[job] = change;
    std::string of = " of " + name(job.first, job.second);
    for (size_t m = 0; m < change.scores.size(); ++m) {
      journal_.set_number(first_.metrics()[m].name + of, change.scores[m]);
    }
    journal_.set_number("gain" + of, change.gain);
  }

  /// Returns what is said of a variant that cannot be scored.
  LayerChange far_away() const {
    return {std::vector<double>(first_.metrics().size(), infinity), 1};
  }
};

/// A layer that first order knows nothing of moves nothing.
void set_unscored(LayerTables& tables, size_t site, size_t variant) {
  tables.gains[site][variant] = 1;
  for (MetricTable& metric : tables.metrics) metric.scores[site][variant] = 1;
}

/// Fills in the scores of variants that lie between others. Those that failed, or that cannot be
/// interpolated, are never chosen.
void interpolate_scores(LayerTables& tables, const NetworkSpace& space, size_t site,
                        const std::vector<bool>& scored) {
  const LayerKind& kind = space.kinds[space.sites[site].kind];
  interpolate_widths(kind, tables.gains[site], scored);
  for (MetricTable& metric : tables.metrics) {
    interpolate_widths(kind, metric.scores[site], scored);
  }
  for (size_t v = 0; v < scored.size(); ++v) {
    if (!std::isfinite(tables.gains[site][v])) tables.times[site][v] = infinity;
  }
}

/// Sets how gradients flow, and where the sites are in that.
void set_flow(LayerTables& tables, const NetworkSpace& space, LayerScores& first) {
  tables.flow = first.flow();
  tables.places.assign(space.sites.size(), no_place);
  const std::vector<LayerScore>& layers = first.original();
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t s = 0; s < space.sites.size(); ++s) {
      if (space.sites[s].layer == layers[i].layer) tables.places[s] = i;
    }
  }
}

/// Returns a table of what a metric says of the original.
MetricTable table_of(const LayerScores& first, size_t metric) {
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

}  // namespace

std::optional<NetworkSpace> screened(const NetworkSpace& space, size_t most, const GateRule& rule,
                                     LayerScores& first, Journal& journal, int workers,
                                     const TableOptions& options) {
  LayerScoring scoring(space, first, journal);
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    for (size_t v = 0; v < space.kinds[k].variants.size(); ++v) {
      scoring.want(space.kinds[k].sites.front(), v);
    }
  }
  if (!scoring.run("variants looked at", workers, options)) return std::nullopt;
  // The paper's rule was published with no such choice: scores do not matter.
  if (rule.is_paper) return narrowed(space, most);
  return narrowed(space, most, [&](size_t kind, size_t variant) {
    size_t site = space.kinds[kind].sites.front();
    LayerChange own = scoring.known(site, 0), change = scoring.known(site, variant);
    double moved = std::log(change.scores.front() / own.scores.front());
    if (std::abs(moved) > rule.layer_band) return infinity;
    return distance_between(own, change, first.metrics());
  });
}

bool score_layers(LayerTables& tables, const NetworkSpace& space, LayerScores& first,
                  Journal& journal, int workers, const TableOptions& options) {
  LayerScoring scoring(space, first, journal);
  // What lies between anchors is interpolated; layers that are no convolutions stay as they are.
  auto is_scored = [&](size_t s, size_t v) {
    const auto& coupling = space.variant(s, v).coupling;
    return scoring.can_score(s) && (!coupling || coupling->is_anchor);
  };
  auto for_each = [&](const auto& use) {
    for (size_t s = 0; s < space.sites.size(); ++s) {
      for (size_t v = 0; v < tables.times[s].size(); ++v) {
        if (std::isfinite(tables.times[s][v])) use(s, v);
      }
    }
  };
  for_each([&](size_t s, size_t v) {
    if (is_scored(s, v)) scoring.want(s, v);
  });
  if (!scoring.run("variants scored", workers, options)) return false;
  set_flow(tables, space, first);
  tables.gains = tables.times;  // its shape
  tables.metrics.clear();
  for (size_t m = 0; m < first.metrics().size(); ++m) {
    tables.metrics.push_back(table_of(first, m));
    tables.metrics.back().scores = tables.times;
  }
  for_each([&](size_t s, size_t v) {
    if (!scoring.can_score(s)) return set_unscored(tables, s, v);
    if (!is_scored(s, v)) return;
    LayerChange change = scoring.known(s, v);
    if (!scoring.is_known(s, v)) tables.times[s][v] = infinity;  // never chosen
    tables.gains[s][v] = change.gain;
    for (size_t m = 0; m < tables.metrics.size(); ++m) {
      tables.metrics[m].scores[s][v] = change.scores[m];
    }
  });
  for (size_t s = 0; s < space.sites.size(); ++s) {
    std::vector<bool> scored;
    for (size_t v = 0; v < tables.times[s].size(); ++v) scored.push_back(is_scored(s, v));
    if (scoring.can_score(s)) interpolate_scores(tables, space, s, scored);
  }
  return true;
}

}  // namespace lathe
