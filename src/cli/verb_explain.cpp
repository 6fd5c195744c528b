// verb_explain.cpp: what became of a network in a search. Interface: verb_explain.h.
#include "cli/verb_explain.h"

#include <cmath>
#include <filesystem>
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

std::string print_meaning(const Json& variant) {
  std::string meaning = variant.at("meaning");
  return variant.at("recipe") == "" ? "as it was" : meaning;
}

/// Prints how many times the original's score a layer's is, given its logarithm.
std::string print_score(const Json& layer) {
  const char* kind =
      layer.contains("exact") && layer["exact"].is_number() ? "exact" : "first_order";
  if (!layer.contains(kind) || !layer[kind].is_number()) return "";
  return fmt::format("{:.2f}", std::exp(layer[kind].get<double>()));
}

/// Cuts a text that is too long for its column, and shows that it did.
std::string shortened(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void print_head(const Json& result) {
  const Json& winner = result.at("winner");
  std::string name = result.at("network");
  double before = winner.at("original_ms"), after = winner.at("ms");
  if (!result.at("found").get<bool>()) {
    fmt::print("{}: nothing faster passed; it is as it was\n", name);
    return;
  }
  fmt::print("{}: {:.3f} ms, was {:.3f} ms: {:.2f} times faster\n", name, after, before,
             before / after);
  const Json& verdict = winner.at("verdict");
  if (verdict.is_object()) fmt::print("{}\n", wrapped(verdict.at("reason"), 0, 0));
  if (!winner.contains("checks") || winner["checks"].is_null()) {
    fmt::print("unchecked: the result does not say what was compared\n");
    return;
  }
  NetworkChecks checks = network_checks_from_json(winner["checks"]);
  fmt::print("checked: {}\n", print_checked(checks));
  fmt::print("{}\n", wrapped("unchecked: " + print_unchecked(checks), 0, 0));
}

void print_row(const std::string& layer, const std::string& became, double before, double after,
               const std::string& score) {
  fmt::print("{:<26} {:<28} {:>8.3f} {:>8.3f}{}\n", shortened(layer, 26), shortened(became, 28),
             before, after, score.empty() ? "" : fmt::format(" {:>6}", score));
}

void print_layers(const Json& result) {
  fmt::print("\n{:<26} {:<28} {:>8} {:>8} {:>6}\n", "layer", "became", "ms, was", "ms, is",
             "fisher");
  double before = result.at("rest_ms"), after = before;
  for (const Json& layer : result.at("layers")) {
    double was = layer.at("before_ms"), is = layer.at("after_ms");
    before += was;
    after += is;
    print_row(layer.at("layer"), print_meaning(layer), was, is, print_score(layer));
  }
  print_row("what cannot change", "", result["rest_ms"], result["rest_ms"], "");
  print_row("sum", "", before, after, "");
}

/// Prints which recipe made each of the things that layers became.
void print_recipes(const Json& result) {
  std::set<std::string> seen;
  for (const Json& layer : result.at("layers")) {
    std::string recipe = layer.at("recipe");
    if (recipe.empty() || !seen.insert(recipe).second) continue;
    if (seen.size() == 1) fmt::print("\nhow\n");
    fmt::print("{}\n", wrapped(fmt::format("  {}: {}", print_meaning(layer), recipe), 6, 0));
  }
}

void print_refusals(const Json& result) {
  fmt::print("\ntried {} networks: {} refused, {} failed\n", result.at("tried").get<long>(),
             result.at("refused").get<long>(), result.at("failed").get<long>());
  std::vector<std::pair<long, std::string>> reasons;
  for (const auto& [reason, count] : result.at("reasons").items())
    reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [count, reason] : reasons) {
    fmt::print("  {:>6}  {}\n", count, wrapped(reason, 10, 10));
  }
}

// ---- one layer ---------------------------------------------------------------------------------

const Json& find_layer(const Json& result, const std::string& name) {
  std::vector<std::string> names;
  for (const Json& layer : result.at("layers")) {
    if (layer.at("layer") == name) return layer;
    names.push_back(layer.at("layer"));
  }
  if (names.empty()) fail("the search has no layers");
  fail("the search could not change a layer '{}'; the nearest that it could is '{}'", name,
       nearest(name, names));
}

const Json& kind_of(const Json& result, const Json& layer) {
  for (const Json& kind : result.at("kinds")) {
    for (const Json& site : kind.at("sites")) {
      if (site == layer.at("layer")) return kind;
    }
  }
  fail("result.json has no kind of layer for '{}'", layer.at("layer").get<std::string>());
}

/// Says what came of a variant of a layer, and why.
std::string fate_of(const Json& variant, const Json& chosen, const Json& rule) {
  std::string failure = variant.value("failure", "");
  if (!failure.empty()) return "failed: " + failure;
  if (variant.at("recipe") == chosen.at("recipe")) return "chosen";
  if (!variant.at("after_ms").is_number()) return "was not measured";
  bool scored = variant.contains("first_order") && variant["first_order"].is_number();
  double moved = scored ? variant["first_order"].get<double>() : 0;
  double band = rule.at("layer_band");
  if (!rule.value("paper", false) && std::abs(moved) > band) {
    return fmt::format("refused: fisher outside of {:.2f} to {:.2f}", std::exp(-band),
                       std::exp(band));
  }
  double after = variant.at("after_ms");
  if (after >= variant.at("before_ms").get<double>() && variant.at("recipe") != "") {
    return "no faster than the layer was";
  }
  if (after >= chosen.at("after_ms").get<double>()) return "slower than what was chosen";
  return "not chosen: with the other layers, too far from the original";
}

/// Returns the variants, the fastest first, each with its "fate"; those that failed come last.
std::vector<Json> variants_of(const Json& result, const Json& layer) {
  std::vector<Json> variants;
  for (Json variant : kind_of(result, layer).at("variants")) {
    variant["fate"] = fate_of(variant, layer, result.at("rule"));
    variants.push_back(std::move(variant));
  }
  auto time_of = [](const Json& variant) {
    const Json& time = variant.at("after_ms");
    return time.is_number() ? time.get<double>() : INFINITY;
  };
  std::stable_sort(variants.begin(), variants.end(),
                   [&](const Json& a, const Json& b) { return time_of(a) < time_of(b); });
  return variants;
}

void print_variants(const std::vector<Json>& variants) {
  fmt::print("\n{:<27} {:>7} {:>6} {:>6}  {}\n", "could become", "ms", "gain", "fisher",
             "what came of it");
  for (const Json& variant : variants) {
    const Json& after = variant.at("after_ms");
    bool timed = after.is_number();
    double ms = timed ? after.get<double>() : 0,
           before = timed ? variant.at("before_ms").get<double>() : 0;
    fmt::print("{:<27} {:>7} {:>6} {:>6}  {}\n", shortened(print_meaning(variant), 27),
               timed ? fmt::format("{:.3f}", ms) : "",
               timed ? fmt::format("{:.2f}x", before / ms) : "", print_score(variant),
               wrapped(variant.at("fate"), 51, 51));
  }
}

/// Prints the loops of a layer before and after: where the bundle says what the network is.
void print_loops(const std::string& folder, const Json& layer) {
  std::string path = folder + "/bundle/winner.recipe";
  if (!std::filesystem::exists(path)) return;
  Graph network = load_made(read_making(path).making);
  auto node = find_node(network, layer.at("layer").get<std::string>());
  if (!node) return;
  Context context;
  Nest nest = samples_inward(nest_of(context, call_of(network, network.nodes[*node])));
  std::string text = layer.at("recipe");
  std::vector<Judged> steps = try_recipe(nest, parse_recipe(text));
  fmt::print("\nas it was\n\n");
  print_state(nest, "");
  if (steps.empty()) return;
  fmt::print("{}\n\n", wrapped("after " + text, 2, 0));
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
  Json result = to_json(read_search_result(folder));
  if (json) {
    Json shown;
    for (const char* part : {"network", "found", "original", "winner", "layers", "rest_ms", "tried",
                             "refused", "failed", "reasons"}) {
      shown[part] = result.at(part);
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
  Json result = to_json(read_search_result(folder));
  const Json& layer = find_layer(result, name);
  std::vector<Json> variants = variants_of(result, layer);
  if (json) {
    fmt::print("{}\n", Json{{"layer", layer}, {"variants", variants}}.dump(2));
    return 0;
  }
  double before = layer.at("before_ms"), after = layer.at("after_ms");
  fmt::print("{}: {}\n", name, layer.at("kind").get<std::string>());
  fmt::print("{}, {:.3f} ms, was {:.3f} ms\n", print_meaning(layer), after, before);
  print_variants(variants);
  print_loops(folder, layer);
  return 0;
}

}  // namespace lathe::cli
