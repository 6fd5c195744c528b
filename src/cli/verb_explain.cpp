// verb_explain.cpp: what became of a network in a search. Interface: verb_explain.h.
#include "cli/verb_explain.h"

#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/verb_nest.h"
#include "codegen/loops.h"
#include "jobs/made_from.h"
#include "results/search_result.h"

namespace lathe::cli {
namespace {

using Json = nlohmann::json;

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

const ResultLayer& find_layer(const SearchResult& result, const std::string& name) {
  std::vector<std::string> names;
  for (const ResultLayer& layer : result.layers) {
    if (layer.layer == name) return layer;
    names.push_back(layer.layer);
  }
  if (names.empty()) fail("the search has no layers");
  fail("the search could not change a layer '{}'; the nearest that it could is '{}'", name,
       nearest(name, names));
}

const ResultKind& kind_of(const SearchResult& result, const ResultLayer& layer) {
  for (const ResultKind& kind : result.kinds) {
    for (const std::string& site : kind.sites) {
      if (site == layer.layer) return kind;
    }
  }
  fail("result.json has no kind of layer for '{}'", layer.layer);
}

/// Says what came of a variant of a layer, and why.
std::string fate_of(const ResultVariant& variant, const ResultLayer& chosen,
                    const ResultRule& rule) {
  if (!variant.failure.empty()) return "failed: " + variant.failure;
  if (variant.recipe == chosen.recipe) return "chosen";
  if (!variant.after_ms) return "was not measured";
  double moved = variant.first_order.value_or(0);
  if (!rule.paper && std::abs(moved) > rule.layer_band) {
    return fmt::format("refused: {} outside of {:.2f} to {:.2f}", rule.score_name(),
                       std::exp(-rule.layer_band), std::exp(rule.layer_band));
  }
  if (*variant.after_ms >= variant.before_ms.value_or(0) && !variant.recipe.empty()) {
    return "no faster than the layer was";
  }
  if (*variant.after_ms >= chosen.after_ms) return "slower than what was chosen";
  return "not chosen: with the other layers, too far from the original";
}

/// Returns the variants, the fastest first; those that failed come last.
std::vector<ResultVariant> variants_of(const SearchResult& result, const ResultLayer& layer) {
  std::vector<ResultVariant> variants = kind_of(result, layer).variants;
  std::stable_sort(variants.begin(), variants.end(),
                   [](const ResultVariant& a, const ResultVariant& b) {
                     return a.after_ms.value_or(INFINITY) < b.after_ms.value_or(INFINITY);
                   });
  return variants;
}

void print_variant(const SearchResult& result, const ResultLayer& layer,
                   const ResultVariant& variant) {
  auto timed = variant.after_ms;
  double work = layer.macs_before > 0 ? 100 * double(variant.macs) / double(layer.macs_before) : 0;
  fmt::print("  {:<27} {:>5.1f} {:>7} {:>6}  {}\n",
             shortened(print_meaning(variant.recipe, variant.meaning), 27), work,
             timed ? fmt::format("{:.3f}", *timed) : "", print_score(variant.first_order),
             wrapped(fate_of(variant, layer, result.rule), 52, 52));
}

/// So many variants of a family are shown: widths alone can be dozens. "--json" has all.
constexpr size_t most_shown = 6;

/// Prints the fastest variants of a family, the chosen one, and what failed. All others are one
/// line.
void print_family(const SearchResult& result, const ResultLayer& layer,
                  const std::vector<ResultVariant>& variants) {
  std::vector<const ResultVariant*> rest;
  for (size_t i = 0; i < variants.size(); ++i) {
    bool is_shown = i < most_shown || variants[i].recipe == layer.recipe ||
                    !variants[i].failure.empty() || variants.size() <= most_shown + 2;
    if (is_shown) {
      print_variant(result, layer, variants[i]);
    } else {
      rest.push_back(&variants[i]);
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
void print_variants(const SearchResult& result, const ResultLayer& layer) {
  fmt::print("\n{:<29} {:>5} {:>7} {:>6}  {}\n", "could become", "MACs%", "ms",
             result.rule.score_name(), "what came of it");
  std::vector<std::pair<std::string, std::vector<ResultVariant>>> families;
  for (const ResultVariant& variant : variants_of(result, layer)) {
    std::string name = variant.family.value_or("");
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& each) { return each.first == name; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    family->second.push_back(variant);
  }
  for (const auto& [name, variants] : families) {
    if (!name.empty()) fmt::print("{}\n", name);
    print_family(result, layer, variants);
  }
}

/// Returns what the result says of a layer, as JSON, with the fate of each variant.
Json layer_to_json(const SearchResult& result, const ResultLayer& layer) {
  Json shown{{"layer", to_json(layer)}, {"variants", Json::array()}};
  for (const ResultVariant& variant : variants_of(result, layer)) {
    Json each = to_json(variant);
    each["fate"] = fate_of(variant, layer, result.rule);
    shown["variants"].push_back(std::move(each));
  }
  return shown;
}

/// Prints the loops of a layer before and after: where the bundle says what the network is.
void print_loops(const std::string& folder, const ResultLayer& layer) {
  std::string path = folder + "/bundle/winner.recipe";
  if (!std::filesystem::exists(path)) return;
  Graph network = load_made(read_making(path).making);
  auto node = find_node(network, layer.layer);
  if (!node) return;
  Context context;
  Nest nest = samples_inward(nest_of(context, call_of(network, network.nodes[*node])));
  std::vector<Judged> steps = try_recipe(nest, parse_recipe(layer.recipe));
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

bool is_run(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path + "/journal.db", ignored) ||
         std::filesystem::exists(path + "/result.json", ignored);
}

void print_state(const Nest& nest, const std::string& remark) {
  Cost c = cost(nest);
  fmt::print("{}\n    {} MACs, {} weights, {} bytes touched{}\n\n", indented(print(scan(nest))),
             print_count(c.macs), print_count(c.weights), print_count(c.bytes), remark);
}

int explain_run(const std::string& folder, bool json) {
  SearchResult result = read_search_result(folder);
  if (json) {
    Json all = to_json(result), shown;
    for (const char* part : {"network", "found", "original", "winner", "layers", "rest_ms", "tried",
                             "refused", "failed", "reasons"}) {
      shown[part] = all.at(part);
    }
    fmt::print("{}\n", shown.dump(2));
    return 0;
  }
  print_head(result);
  print_layers(result);
  print_recipes(result);
  print_refusals(result);
  return 0;
}

int explain_layer(const std::string& folder, const std::string& name, bool json) {
  SearchResult result = read_search_result(folder);
  const ResultLayer& layer = find_layer(result, name);
  if (json) {
    fmt::print("{}\n", layer_to_json(result, layer).dump(2));
    return 0;
  }
  fmt::print("{}: {}\n", name, layer.kind);
  fmt::print("{}, {:.3f} ms, was {:.3f} ms\n", print_meaning(layer.recipe, layer.meaning),
             layer.after_ms, layer.before_ms);
  print_variants(result, layer);
  print_loops(folder, layer);
  return 0;
}

}  // namespace lathe::cli
