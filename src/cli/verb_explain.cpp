// verb_explain.cpp: what became of a network in a search. Interface: verb_explain.h.
#include "cli/verb_explain.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/verb_nest.h"
#include "codegen/loops.h"
#include "jobs/explain.h"

namespace lathe::cli {
namespace {

std::string print_meaning(const std::string& recipe, const std::string& meaning) {
  return recipe.empty() ? "as it was" : meaning;
}

/// Prints how many times the original's score a layer's is, given its logarithm.
std::string print_score(const std::optional<double>& log_ratio) {
  return log_ratio ? fmt::format("{:.2f}", std::exp(*log_ratio)) : "";
}

std::optional<double> score_of(const ResultLayer& layer) {
  return layer.exact ? layer.exact : layer.first_order;
}

/// Cuts a text that is too long for its column, and shows that it did.
std::string shortened(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void print_head(const SearchResult& result) {
  const ResultWinner& winner = result.winner;
  if (!result.found) {
    fmt::print("{}: nothing faster passed; it is as it was\n", result.network);
    return;
  }
  fmt::print("{}: {:.3f} ms, was {:.3f} ms: {:.2f} times faster\n", result.network, winner.ms,
             winner.original_ms, winner.original_ms / winner.ms);
  if (winner.verdict) fmt::print("{}\n", wrapped(winner.verdict->reason, 0, 0));
  if (!winner.checks) {
    fmt::print("unchecked: the result does not say what was compared\n");
    return;
  }
  fmt::print("checked: {}\n", print_checked(*winner.checks));
  fmt::print("{}\n", wrapped("unchecked: " + print_unchecked(*winner.checks), 0, 0));
}

void print_row(const std::string& layer, const std::string& became, double before, double after,
               const std::string& score) {
  fmt::print("{:<26} {:<28} {:>8.3f} {:>8.3f}{}\n", shortened(layer, 26), shortened(became, 28),
             before, after, score.empty() ? "" : fmt::format(" {:>6}", score));
}

void print_layers(const SearchResult& result) {
  fmt::print("\n{:<26} {:<28} {:>8} {:>8} {:>6}\n", "layer", "became", "ms, was", "ms, is",
             result.rule.score_name());
  double before = result.rest_ms, after = result.rest_ms;
  for (const ResultLayer& layer : result.layers) {
    before += layer.before_ms;
    after += layer.after_ms;
    print_row(layer.layer, print_meaning(layer.recipe, layer.meaning), layer.before_ms,
              layer.after_ms, print_score(score_of(layer)));
  }
  print_row("what cannot change", "", result.rest_ms, result.rest_ms, "");
  print_row("sum", "", before, after, "");
}

/// Prints which recipe made each of the things that layers became.
void print_recipes(const SearchResult& result) {
  std::set<std::string> seen;
  for (const ResultLayer& layer : result.layers) {
    if (layer.recipe.empty() || !seen.insert(layer.recipe).second) continue;
    if (seen.size() == 1) fmt::print("\nhow\n");
    fmt::print("{}\n", wrapped(fmt::format("  {}: {}", layer.meaning, layer.recipe), 6, 0));
  }
}

void print_refusals(const SearchResult& result) {
  fmt::print("\ntried {} networks: {} refused, {} failed\n", result.tried, result.refused,
             result.failed);
  std::vector<std::pair<long, std::string>> reasons;
  for (const auto& [reason, count] : result.reasons) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [count, reason] : reasons) {
    fmt::print("  {:>6}  {}\n", count, wrapped(reason, 10, 10));
  }
}

// ---- one layer ---------------------------------------------------------------------------------

void print_variant(const ResultLayer& layer, const ExplainedVariant& explained) {
  const ResultVariant& variant = explained.variant;
  auto timed = variant.after_ms;
  double work = layer.macs_before > 0 ? 100 * double(variant.macs) / double(layer.macs_before) : 0;
  fmt::print("  {:<27} {:>5.1f} {:>7} {:>6}  {}\n",
             shortened(print_meaning(variant.recipe, variant.meaning), 27), work,
             timed ? fmt::format("{:.3f}", *timed) : "", print_score(variant.first_order),
             wrapped(explained.fate, 52, 52));
}

/// So many variants of a family are shown: widths alone can be dozens. "--json" has all.
constexpr size_t most_shown = 6;

/// Prints the fastest variants of a family, the chosen one, and what failed. All others are one
/// line.
void print_family(const ResultLayer& layer, const std::vector<ExplainedVariant>& variants) {
  std::vector<const ResultVariant*> rest;
  for (size_t i = 0; i < variants.size(); ++i) {
    const ResultVariant& variant = variants[i].variant;
    bool is_shown = i < most_shown || variant.recipe == layer.recipe || !variant.failure.empty() ||
                    variants.size() <= most_shown + 2;
    if (is_shown) {
      print_variant(layer, variants[i]);
    } else {
      rest.push_back(&variant);
    }
  }
  if (rest.empty()) return;
  std::string times;
  for (const ResultVariant* each : rest) {  // the slowest that was measured is the last
    if (each->after_ms) times = fmt::format(", up to {:.3f} ms", *each->after_ms);
  }
  fmt::print("  and {} more{}\n", rest.size(), times);
}

/// Prints what a layer could become, family by family. The family with the fastest variant is the
/// first.
void print_variants(const SearchResult& result, const ExplainedLayer& explained) {
  fmt::print("\n{:<29} {:>5} {:>7} {:>6}  {}\n", "could become", "MACs%", "ms",
             result.rule.score_name(), "what came of it");
  std::vector<std::pair<std::string, std::vector<ExplainedVariant>>> families;
  for (const ExplainedVariant& each : explained.variants) {
    std::string name = each.variant.family.value_or("");
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& other) { return other.first == name; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    family->second.push_back(each);
  }
  for (const auto& [name, variants] : families) {
    if (!name.empty()) fmt::print("{}\n", name);
    print_family(explained.layer, variants);
  }
}

/// Prints the loops of a layer before and after.
void print_loops(const ResultLayer& layer, const Nest& nest, const std::vector<Judged>& steps) {
  fmt::print("\nas it was\n\n");
  print_state(nest, "");
  if (steps.empty()) return;
  fmt::print("{}\n\n", wrapped("after " + layer.recipe, 2, 0));
  print_state(steps.back().nest, "; " + meaning_after(nest, steps, steps.size()));
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace

void print_state(const Nest& nest, const std::string& remark) {
  Cost c = cost(nest);
  fmt::print("{}\n    {} MACs, {} weights, {} bytes touched{}\n\n", indented(print(scan(nest))),
             print_count(c.macs), print_count(c.weights), print_count(c.bytes), remark);
}

int print_run(const std::string& folder, bool json) {
  SearchResult result = read_search_result(folder);
  if (json) {
    fmt::print("{}\n", explained_run(result).dump(2));
    return 0;
  }
  print_head(result);
  print_layers(result);
  print_recipes(result);
  print_refusals(result);
  return 0;
}

int print_layer(const std::string& folder, const std::string& name, bool json) {
  SearchResult result = read_search_result(folder);
  ExplainedLayer explained = explain_layer(result, name);
  if (json) {
    fmt::print("{}\n", to_json(explained).dump(2));
    return 0;
  }
  const ResultLayer& layer = explained.layer;
  fmt::print("{}: {}\n", name, layer.kind);
  fmt::print("{}, {:.3f} ms, was {:.3f} ms\n", print_meaning(layer.recipe, layer.meaning),
             layer.after_ms, layer.before_ms);
  print_variants(result, explained);
  visit_loops(folder, layer, [&](const Nest& nest, const std::vector<Judged>& steps) {
    print_loops(layer, nest, steps);
  });
  return 0;
}

}  // namespace lathe::cli
