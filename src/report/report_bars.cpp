// report_bars.cpp: lengths of a search. Interface: report_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/bars.h"
#include "report/report_colours.h"
#include "report/report_plots.h"
#include "report/report_text.h"

namespace lathe {
namespace {

constexpr size_t most_layers = 32, most_sequences = 12;

std::function<std::string(long)> drawn(Bars bars) {
  bars.look = {"var(--ink)", grey, false};
  return [bars](long width) mutable {
    bars.width = width;
    return print_svg(bars);
  };
}

double saving(const ResultLayer& layer) { return layer.before_ms - layer.after_ms; }

/// Returns the layers that changed, of which those with the largest savings, in order.
std::vector<const ResultLayer*> largest_savings(const SearchResult& result) {
  std::vector<const ResultLayer*> layers;
  for (const ResultLayer& layer : result.layers) {
    if (!layer.recipe.empty()) layers.push_back(&layer);
  }
  if (layers.size() <= most_layers) return layers;
  std::vector<const ResultLayer*> sorted = layers;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::abs(saving(*a)) > std::abs(saving(*b));
  });
  sorted.resize(most_layers);
  std::erase_if(layers, [&](const ResultLayer* layer) {
    return std::find(sorted.begin(), sorted.end(), layer) == sorted.end();
  });
  return layers;
}

/// Lets time fall, row by row.
class Falling {
 public:
  Falling(Bars& bars, double from) : bars_(bars), at_(from) {}

  void by(double ms, const std::string& name, const std::string& text, const std::string& hint,
          size_t faster = 1, size_t slower = 2, const std::string& detail = "") {
    bars_.rows.push_back({name, at_, at_ - ms, text, ms >= 0 ? faster : slower, hint, detail});
    at_ -= ms;
  }

  double at() const { return at_; }

 private:
  Bars& bars_;
  double at_;
};

void add_layers(Falling& falling, const SearchResult& result) {
  std::vector<const ResultLayer*> shown = largest_savings(result);
  double rest = 0;
  size_t changed = 0;
  for (const ResultLayer& layer : result.layers) {
    if (layer.recipe.empty()) continue;
    ++changed, rest += saving(layer);
  }
  for (const ResultLayer* layer : shown) {
    std::string hint = fmt::format("{}, {}: {} ms; {}", layer->layer, layer->meaning,
                                   print_change(-saving(*layer), 4), print_arrows(layer->recipe));
    std::string text =
        fmt::format("{} → {} ms", print_digits(layer->before_ms), print_digits(layer->after_ms));
    falling.by(saving(*layer), layer->layer, text, hint, 1, 2, layer->meaning);
    rest -= saving(*layer);
  }
  if (changed > shown.size()) {
    falling.by(rest, fmt::format("{} layers more", changed - shown.size()),
               print_change(-rest, 3) + " ms", "");
  }
}

/// Shows where the time goes while nothing is saved.
HtmlFigure times_of_layers(const SearchResult& result) {
  std::vector<const ResultLayer*> layers;
  for (const ResultLayer& layer : result.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto* a, const auto* b) { return a->before_ms > b->before_ms; });
  Bars bars{.title = "Where the time goes",
            .axis = "latency, ms",
            .styles = {{"whole network", cool}, {"layer", grey}},
            .rows = {{"original", 0, result.original.ms, print_ms(result.original.ms)}}};
  double rest = result.rest_ms;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i < most_layers) {
      bars.rows.push_back({layers[i]->layer, 0, layers[i]->before_ms,
                           print_ms(layers[i]->before_ms), 1, "", print_arrows(layers[i]->kind)});
    } else {
      rest += layers[i]->before_ms;
    }
  }
  bars.rows.push_back({"everything else", 0, rest, print_ms(rest), 1});
  return {"waterfall", bars.title, "The layers of the original, the slowest first.", drawn(bars),
          HtmlFigure::Span::full};
}

std::string kind_hint(const ResultRule& rule, const ResultVariant& variant) {
  std::string text = variant.meaning + ": " + print_arrows(variant.recipe);
  if (variant.first_order) {
    text += fmt::format("; {} {} times", rule.score_name(),
                        print_digits(std::exp(*variant.first_order)));
  }
  return text;
}

}  // namespace

bool is_allowed(const ResultRule& rule, const ResultVariant& variant) {
  if (!variant.failure.empty() || !variant.first_order) return false;
  return rule.paper ? *variant.first_order >= 0 : std::abs(*variant.first_order) <= rule.layer_band;
}

size_t times_chosen(const SearchResult& result, const ResultKind& kind,
                    const ResultVariant& variant) {
  return static_cast<size_t>(
      std::count_if(result.layers.begin(), result.layers.end(), [&](const ResultLayer& layer) {
        return layer.kind == kind.kind && layer.recipe == variant.recipe &&
               std::find(kind.sites.begin(), kind.sites.end(), layer.layer) != kind.sites.end();
      }));
}

HtmlFigure waterfall(const SearchResult& result) {
  if (!result.found) return times_of_layers(result);
  double start = result.winner.original_ms;
  Bars bars{.title = "Latency, layer by layer",
            .axis = "latency, ms",
            .styles = {{"whole network", cool}, {"saved", good}, {"lost", warm}, {"", grey}},
            .rows = {{"original", 0, start, print_ms(start)}},
            .joined = true};
  Falling falling(bars, start);
  add_layers(falling, result);
  double beyond = falling.at() - result.winner.ms;
  falling.by(beyond, "whole, beyond its layers", print_change(-beyond, 3) + " ms",
             "what the networks as they were measured differ by beyond the sum of their layers", 3,
             3);
  bars.rows.push_back({"winner", 0, result.winner.ms, print_ms(result.winner.ms)});
  return {"waterfall", bars.title,
          "From the original at the top to the winner at the bottom, by the layers that changed: "
          "their latency before → after. They were measured one by one in their places; the last "
          "but one row is what the whole network differs from their sum by.",
          drawn(bars), HtmlFigure::Span::full};
}

std::optional<HtmlFigure> sequence_bars(const SearchResult& result,
                                        const std::vector<NetworkTrial>& trials) {
  std::vector<SequenceCount> counts = sequence_counts(result.winner.recipe, trials);
  if (counts.empty()) return std::nullopt;
  Bars bars{.title = "Sequences of steps",
            .axis = "layers of a network",
            .styles = {{"winner", warm}, {"networks that passed, in the mean", cool}}};
  size_t shown = std::min(counts.size(), most_sequences);
  for (size_t i = 0; i < shown; ++i) {
    const SequenceCount& count = counts[i];
    auto winner = static_cast<double>(count.winner);
    bars.rows.push_back({"[" + count.sequence + "]", 0, winner, fmt::format("{}", count.winner)});
    bars.rows.push_back(
        {"", 0, count.passed, fmt::format("{:.1f}", count.passed), 1,
         fmt::format("[{}], in the mean over networks that passed", count.sequence)});
  }
  std::string caption =
      "How often each sequence occurs, whatever its factors (the paper's "
      "Figure 5).";
  if (shown < counts.size()) {
    caption += fmt::format(" {} that are less frequent are left out.", counts.size() - shown);
  }
  return HtmlFigure{"sequences", bars.title, caption, drawn(bars)};
}

std::optional<HtmlFigure> kind_bars(const SearchResult& result) {
  Bars bars{.title = "Gain of each kind of layer",
            .axis = "times faster in the winner",
            .styles = {{"", cool}}};
  for (const ResultKind& kind : result.kinds) {
    double before = 0, after = 0;
    for (const ResultLayer& layer : result.layers) {
      if (layer.kind != kind.kind) continue;
      before += layer.before_ms, after += layer.after_ms;
    }
    if (!(before > 0 && after > 0)) continue;
    bars.rows.push_back({print_arrows(kind.kind), 0, before / after,
                         fmt::format("{:.2f}", before / after), 0,
                         fmt::format("{}: {} layers, {} to {}", kind.kind, kind.sites.size(),
                                     print_ms(before), print_ms(after))});
  }
  if (bars.rows.empty()) return std::nullopt;
  return HtmlFigure{"kinds", bars.title,
                    "Layers of one shape together, as in the paper's Figure 6. 1.00: they are as "
                    "they were.",
                    drawn(bars)};
}

std::optional<HtmlFigure> variant_bars(const SearchResult& result, const ResultKind& kind,
                                       size_t number) {
  Bars bars{.title = "What " + print_arrows(kind.kind) + " can become",
            .axis = "latency of the layer, ms",
            .styles = {{"chosen", warm}, {"allowed", cool}, {"moves the score too far", grey}}};
  for (const ResultVariant& variant : kind.variants) {
    if (!variant.after_ms) continue;
    if (bars.rows.empty() && variant.before_ms) {
      size_t kept = times_chosen(result, kind, {});
      bars.rows.push_back(
          {"as it was", 0, *variant.before_ms, print_ms(*variant.before_ms), kept > 0 ? 0UL : 1UL});
    }
    if (variant.recipe.empty()) continue;
    size_t style = times_chosen(result, kind, variant) > 0 ? 0
                   : is_allowed(result.rule, variant)      ? 1
                                                           : 2;
    bars.rows.push_back({variant.meaning, 0, *variant.after_ms, print_ms(*variant.after_ms), style,
                         kind_hint(result.rule, variant)});
  }
  if (bars.rows.size() < 2) return std::nullopt;
  return HtmlFigure{fmt::format("kind{}", number), "", "", drawn(bars), HtmlFigure::Span::full};
}

}  // namespace lathe
