// report_layers.cpp: layers and their kinds. Interface: report_layers.h.
#include "report/report_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/report_loops.h"
#include "report/report_plots.h"
#include "report/report_text.h"

namespace lathe {
namespace {

/// Prints what a number was and is, or only the one where it stayed.
std::string before_and_after(long before, long after) {
  if (before == after) return print_amount(after);
  return print_amount(before) + " → " + print_amount(after);
}

/// Prints the ratio of a layer's scores; one that is known to first order alone has a sign for it.
std::string score_of(const ResultLayer& layer) {
  if (layer.exact) return print_digits(std::exp(*layer.exact));
  if (layer.first_order) return "≈ " + print_digits(std::exp(*layer.first_order));
  return "";
}

Html loops_in(const std::string& title, const std::string& loops) {
  return element("div", element("h3", title) + element("pre", loops));
}

Html loops_below(const ResultLayer& layer, LoopPrinter& printer) {
  const LayerLoops& loops = printer.print(layer.layer, layer.recipe);
  if (!loops.remark.empty()) return element("p", loops.remark, "class=\"small\"");
  Html out = loops_in(loops.after.empty() ? "loops" : "before", loops.before);
  if (!loops.after.empty()) out += loops_in("after " + print_arrows(layer.recipe), loops.after);
  return element("div", out, "class=\"loops\"");
}

Html named(const ResultLayer& layer) {
  return html_text(layer.layer) + element("div", print_arrows(layer.kind), "class=\"small below\"");
}

Html became(const ResultLayer& layer) {
  if (layer.recipe.empty()) return html_text("as it was");
  return element("div", layer.meaning, "class=\"changed\"") +
         element("code", print_arrows(layer.recipe));
}

HtmlRow row_of(const ResultLayer& layer, LoopPrinter* printer) {
  bool changed = !layer.recipe.empty();
  double gain = layer.after_ms > 0 ? layer.before_ms / layer.after_ms : 1;
  HtmlRow row{{named(layer), became(layer), html_text(print_digits(layer.before_ms)),
               html_text(print_digits(layer.after_ms)),
               html_text(changed ? fmt::format("{:.2f}", gain) : ""),
               html_text(before_and_after(layer.macs_before, layer.macs)),
               html_text(before_and_after(layer.weights_before, layer.weights)),
               html_text(score_of(layer))}};
  if (printer != nullptr) row.more = loops_below(layer, *printer);
  return row;
}

/// Says in a line what came of a kind of layer.
Html summary_of(const SearchResult& result, const ResultKind& kind) {
  auto allowed =
      std::count_if(kind.variants.begin(), kind.variants.end(), [&](const ResultVariant& variant) {
        return !variant.recipe.empty() && is_allowed(result.rule, variant);
      });
  auto all = std::count_if(kind.variants.begin(), kind.variants.end(),
                           [](const ResultVariant& variant) { return !variant.recipe.empty(); });
  std::string chosen;
  for (const ResultVariant& variant : kind.variants) {
    size_t times = times_chosen(result, kind, variant);
    if (times == 0 || variant.recipe.empty()) continue;
    chosen += fmt::format("{}{} ({})", chosen.empty() ? "" : ", ", variant.meaning, times);
  }
  Html out = element("b", print_arrows(kind.kind));
  out += html_text(fmt::format(" · {} layer{} · {} of {} variants allowed · ", kind.sites.size(),
                               kind.sites.size() == 1 ? "" : "s", allowed, all));
  return out + (chosen.empty() ? html_text("none chosen")
                               : element("span", "chosen: " + chosen, "class=\"chosen\""));
}

Html failures_of(const ResultKind& kind) {
  Html out;
  for (const ResultVariant& variant : kind.variants) {
    if (variant.failure.empty()) continue;
    out += element("p", variant.meaning + " failed: " + variant.failure, "class=\"small\"");
  }
  return out;
}

/// Returns the kind whose layers took the most time together.
size_t slowest_kind(const SearchResult& result) {
  size_t slowest = 0;
  double most = 0;
  for (size_t i = 0; i < result.kinds.size(); ++i) {
    double time = 0;
    for (const ResultLayer& layer : result.layers) {
      if (layer.kind == result.kinds[i].kind) time += layer.before_ms;
    }
    if (time > most) slowest = i, most = time;
  }
  return slowest;
}

}  // namespace

Html layer_table(const ReportInput& input) {
  std::optional<LoopPrinter> printer;
  if (input.network != nullptr) printer.emplace(*input.network);
  std::vector<HtmlRow> rows;
  for (const ResultLayer& layer : input.result.layers) {
    rows.push_back(row_of(layer, printer ? &*printer : nullptr));
  }
  std::string remark =
      printer ? "A layer's name opens its loops. "
              : fmt::format("Loops are not shown: {}. ",
                            input.remark.empty() ? "the network was not loaded" : input.remark);
  remark +=
      fmt::format("The score is {} of the layer, times the original's: exact, or ≈ to first order.",
                  input.result.rule.score_name());
  return html_table("Layers",
                    {{"layer"},
                     {"became, by which recipe", false, true},
                     {"ms before", true},
                     {"ms after", true},
                     {"× faster", true},
                     {"MACs", true},
                     {"weights", true},
                     {"score", true}},
                    rows) +
         element("p", remark, "class=\"small\"");
}

Html kind_list(const SearchResult& result) {
  Html out;
  size_t slowest = slowest_kind(result);
  for (size_t i = 0; i < result.kinds.size(); ++i) {
    const ResultKind& kind = result.kinds[i];
    auto figure = variant_bars(result, kind, i);
    Html content = figure ? html_figure(*figure) : Html{};
    content += failures_of(kind);
    if (!figure) content += element("p", "No variant was measured.", "class=\"small\"");
    out += html_details(summary_of(result, kind), content, i == slowest);
  }
  return element("div", element("h3", "What each kind of layer can become") + out,
                 "class=\"kinds\"");
}

}  // namespace lathe
