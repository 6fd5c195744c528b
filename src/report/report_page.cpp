// report_page.cpp: the page, a straight list of its parts. Interface: report_page.h.
#include "report/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/report_html.h"
#include "report/report_layers.h"
#include "report/report_plots.h"
#include "report/report_text.h"

namespace lathe {
namespace {

Html tile(const std::string& value, const std::string& what, const std::string& more) {
  return element(
      "div",
      element("b", value) + element("span", what) + (more.empty() ? Html{} : element("span", more)),
      "class=\"tile\"");
}

Html tiles(const SearchResult& result) {
  const ResultWinner& winner = result.winner;
  Html out = tile(fmt::format("{:.2f} ×", speedup(result)), "faster than the original",
                  winner.tuned ? "after tuning" : "");
  out += tile(print_ms(winner.ms), "latency", "was " + print_ms(winner.original_ms));
  out +=
      tile(print_amount(winner.weights), "weights", "was " + print_amount(result.original.weights));
  out += tile(print_amount(winner.macs), "MACs", "was " + print_amount(result.original.macs));
  if (const auto& verdict = winner.verdict) {
    out += tile(print_digits(verdict->ratio), result.rule.score_name() + ", times the original's",
                verdict->interval
                    ? fmt::format("95 %: {} to {}", print_digits(verdict->interval->at(0)),
                                  print_digits(verdict->interval->at(1)))
                    : "one seed: no interval");
    if (verdict->predicted) {
      out += tile(print_change(*verdict->predicted), "points of accuracy, predicted",
                  fmt::format("give or take {:.2f}", verdict->uncertainty.value_or(0)));
    } else if (verdict->prediction) {
      out += tile(fmt::format("{} to {}", print_change(verdict->prediction->at(0)),
                              print_change(verdict->prediction->at(1))),
                  "points of accuracy", "not calibrated");
    }
  }
  return element("div", out, "class=\"tiles\"");
}

Html reasons_table(const SearchResult& result) {
  constexpr size_t most = 12;
  std::vector<HtmlRow> rows;
  auto add = [&](long count, const std::string& reason) {
    rows.push_back({{html_text(fmt::format("{}", count)), html_text(reason)}});
  };
  long others = 0;
  for (const auto& [reason, count] : reasons_alike(result.reasons)) {
    if (rows.size() < most) {
      add(count, reason);
    } else {
      others += count;
    }
  }
  if (others > 0) add(others, "for other reasons");
  if (rows.empty()) return element("p", "No network was refused.");
  return html_table("Reasons of refusals", {{"networks", true}, {"reason", false, true}}, rows);
}

Html opening(const SearchResult& result) {
  Html out = element("p", "Lathe: a faster network, and what was tried", "class=\"kicker\"");
  out += element("h1", headline(result));
  out += element("p", lead(result), "class=\"lead\"");
  if (!result.found) out += reasons_table(result);
  out += element("p", caution(result), "class=\"note\"");
  if (result.found) out += tiles(result);
  return out;
}

/// Returns the pictures that there are beside each other, or a remark in place of one.
Html pair(const std::optional<HtmlFigure>& a, const std::string& without_a, const Html& b) {
  Html first = a ? html_figure(*a) : element("p", without_a, "class=\"small\"");
  return element("div", first + b, "class=\"pair\"");
}

Html figure_or(const std::optional<HtmlFigure>& figure, const std::string& remark) {
  return figure ? html_figure(*figure) : element("p", remark, "class=\"small\"");
}

Html section(const char* id, const char* title, const Html& content) {
  return element("section", element("h2", title) + content, fmt::format("id=\"{}\"", id));
}

Html navigation(const SearchResult& result) {
  Html out;
  auto link = [&](const char* id, const char* title) {
    out += element("a", title, fmt::format("href=\"#{}\"", id));
  };
  link("layers", "Layers");
  link("networks", "Networks");
  link("steps", "Sequences and variants");
  link("search", "Search");
  if (result.blocks || !result.peers.empty()) link("others", "Other ways");
  if (result.precisions) link("precisions", "Precisions");
  if (result.families && !result.families->empty()) link("families", "Families");
  link("again", "Do it again");
  return element("nav", out, "aria-label=\"Parts of this page\"");
}

Html search_section(const SearchResult& result, const std::vector<NetworkTrial>& trials) {
  std::string tried =
      fmt::format("{} networks were tried by the strategy '{}': {} refused, {} failed.",
                  result.tried, result.strategy, result.refused, result.failed);
  const auto& checks = result.winner.checks;
  std::string checked =
      checks ? fmt::format("Of the winner's code, this was compared: {}. Unchecked: {}.",
                           print_checked(*checks), print_unchecked(*checks))
             : "It is not known what of the winner's code was compared with the interpreter.";
  Html reasons = element("div", element("h3", "Why networks were refused") + reasons_table(result));
  return section("search", "The search",
                 element("p", tried) + element("p", checked) +
                     pair(history_plot(result, trials), "The journal holds no network.", reasons));
}

/// Says how many networks there were to choose from, in the list of blocks and here.
std::string print_spaces(const SearchResult& result) {
  std::string text = fmt::format(
      "The list has up to {} blocks a layer, which make 10^{:.1f} networks; they were compiled, "
      "judged and tuned like the winner.",
      result.blocks->most, result.blocks->log_networks);
  if (!result.log_networks || result.strategy == "nas") return text;
  size_t most = 0;
  for (const ResultKind& kind : result.kinds) most = std::max(most, kind.variants.size());
  return text + fmt::format(" Lathe chose from up to {} variants a layer, 10^{:.1f} networks.",
                            most, *result.log_networks);
}

/// Adds a row for each way of choosing from the list of blocks, beside an original that takes
/// "own".
void add_blocks(const ResultBlocks& blocks, double own, std::vector<HtmlRow>& rows) {
  for (const ResultBaseline& each : blocks.ways) {
    Html name = html_text(fmt::format("list of blocks ({})", each.way));
    if (each.ms) {
      rows.push_back(
          {{name, html_text(each.tuned ? "the best that passed, tuned" : "the best that passed"),
            html_text(print_digits(each.ms_beside(own))),
            html_text(fmt::format("{:.2f}", each.original_ms / *each.ms))}});
    } else {
      rows.push_back({{name, html_text(fmt::format("none of {} passed", each.tried)), html_text(""),
                       html_text("")}});
    }
  }
}

/// Returns how the result compares with other ways to the same end; nothing where none is known.
Html others_section(const SearchResult& result) {
  if (!result.blocks && result.peers.empty()) return {};
  std::vector<HtmlRow> rows;
  auto add = [&](const std::string& name, const std::string& network, double ms, double own) {
    std::string ratio = ms > 0 ? fmt::format("{:.2f}", own / ms) : "";
    rows.push_back(
        {{html_text(name), html_text(network), html_text(print_digits(ms)), html_text(ratio)}});
  };
  double own = result.winner.original_ms > 0 ? result.winner.original_ms : result.original.ms;
  std::string tuned = result.winner.tuned ? ", tuned" : "";
  add("compiler alone", "the original" + tuned, own, own);
  if (result.blocks) add_blocks(*result.blocks, own, rows);
  if (result.found) add(way_of_winner(result), "the winner" + tuned, result.winner.ms, own);
  for (const ResultPeer& peer : result.peers) add(peer.name, "the original", peer.ms, own);
  Html table =
      html_table("Other ways", {{"by"}, {"network"}, {"ms", true}, {"times faster", true}}, rows);
  std::string note =
      "Times faster than the original network that Lathe compiled, on the same machine.";
  if (result.blocks) note += " " + print_spaces(result);
  return section("others", "Other ways", table + element("p", note, "class=\"small\""));
}

/// Returns how fast networks are with all layers in one precision; nothing where that is not known.
Html precisions_section(const SearchResult& result) {
  if (!result.precisions) return {};
  std::vector<HtmlRow> rows;
  auto add = [&](const std::string& network, const std::string& precision, double ms, double own,
                 const std::optional<double>& accuracy) {
    rows.push_back({{html_text(network), html_text(precision),
                     html_text(print_digits(ms * result.winner.original_ms / own)),
                     html_text(fmt::format("{:.2f}", own / ms)),
                     html_text(accuracy ? fmt::format("{:.2f}", *accuracy) : "")}});
  };
  for (const ResultPrecision& each : *result.precisions) {
    add("the original", each.precision, each.ms, each.original_ms, each.accuracy);
  }
  for (const ResultPrecision& each : *result.precisions) {
    if (!each.winner_ms) continue;
    add("the winner's steps", each.precision, *each.winner_ms, each.winner_original_ms.value_or(0),
        std::nullopt);
  }
  if (result.found) {
    std::optional<double> accuracy;
    if (result.accuracy) accuracy = result.accuracy->before;
    add("the winner", "layer by layer", result.winner.ms, result.winner.original_ms, accuracy);
  }
  Html table = html_table(
      "Precisions",
      {{"network"}, {"precision"}, {"ms", true}, {"times faster", true}, {"accuracy, %", true}},
      rows);
  return section("precisions", "In one precision",
                 table + element("p",
                                 "Times faster than the original in f32. All were tuned for the "
                                 "same time, and measured beside it. Accuracies are before any "
                                 "training, on images that validate.",
                                 "class=\"small\""));
}

/// Returns what each family of variants contributes; nothing where that is not known.
Html families_section(const SearchResult& result) {
  if (!result.families || result.families->empty()) return {};
  std::vector<HtmlRow> rows;
  for (const ResultFamilies& each : *result.families) {
    rows.push_back(
        {{html_text(each.families), html_text(fmt::format("{}", fmt::join(each.used, ", "))),
          html_text(print_digits(each.ms)),
          html_text(fmt::format("{:.2f}", each.original_ms / each.ms)),
          html_text(fmt::format("{:+.2f}", each.predicted))}});
  }
  Html table = html_table(
      "Families",
      {{"allowed"}, {"used"}, {"ms", true}, {"times faster", true}, {"points, predicted", true}},
      rows);
  return section(
      "families", "What each family contributes",
      table + element("p",
                      "The fastest network that these families can make, chosen over all "
                      "layers at once, from the same tables and with the same tolerance. "
                      "Nothing of it was measured as a whole.",
                      "class=\"small\""));
}

Html again_section(const ReportInput& input) {
  const SearchResult& result = input.result;
  Html out = element("p", "The search: the same command goes on where one was stopped.");
  out += element("pre", result.command, "class=\"command\"");
  out += element("p", "The winner alone, rebuilt from its recipe:", "class=\"next\"");
  out += element("pre", fmt::format("lathe replay {}/bundle/winner.recipe -o out/", input.folder),
                 "class=\"command\"");
  std::vector<HtmlRow> rows;
  auto add = [&](const std::string& name, const std::string& value) {
    rows.push_back({{html_text(name), html_text(value)}});
  };
  add("version of Lathe", result.lathe);
  for (const auto& [name, value] : result.identity) {
    if (name != "version of Lathe") add(name, value);
  }
  add("rule in full",
      fmt::format("{}; network band {}, layer band {}, tolerance {} points", result.rule.name,
                  result.rule.network_band, result.rule.layer_band, result.rule.tolerance));
  add("strategy", result.strategy);
  return section("again", "Do it again",
                 out + html_table("Versions and seeds", {{"what"}, {"value", false, true}}, rows));
}

}  // namespace

std::string print_report(const ReportInput& input) {
  const SearchResult& result = input.result;
  std::vector<NetworkTrial> trials = network_trials(input.journal);
  Html body = element("header", opening(result) + navigation(result));
  body += section("layers", "Layers", html_figure(waterfall(result)) + layer_table(input));
  body +=
      section("networks", "Networks",
              pair(pareto_plot(result, trials),
                   "No network that passed has a predicted accuracy: there is no front to show.",
                   figure_or(gate_plot(result, trials), "The journal holds no network.")));
  body += section("steps", "Sequences and variants",
                  pair(sequence_bars(result, trials), "No network that passed has changed layers.",
                       figure_or(kind_bars(result), "No layer could change.")) +
                      kind_list(result));
  body += search_section(result, trials);
  body += others_section(result);
  body += precisions_section(result);
  body += families_section(result);
  body += again_section(input);
  return print_page("Lathe: " + headline(result), body);
}

}  // namespace lathe
