// explain.cpp: what steps do, and what a search did. Interface: explain.h.
#include "jobs/explain.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "codegen/loops.h"
#include "jobs/applied.h"
#include "jobs/made_from.h"
#include "ops/op.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

nlohmann::json state_of(const Nest& nest) {
  return {{"loops", print(scan(nest))}, {"cost", to_json(cost(nest))}};
}

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

}  // namespace

bool is_search(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/journal.db", ignored) ||
         std::filesystem::exists(folder + "/result.json", ignored);
}

nlohmann::json explained_nest(const Nest& nest, const std::vector<Judged>& steps) {
  nlohmann::json after = nlohmann::json::array();
  for (size_t i = 0; i < steps.size(); ++i) {
    nlohmann::json step{{"step", print(steps[i].step)},
                        {"rewrite", find_transform(steps[i].step.name).rewrite},
                        {"verdict", to_json(steps[i].verdict)}};
    if (steps[i].verdict.accepted()) {
      step.update(state_of(steps[i].nest));
      step["means"] = meaning_after(nest, steps, i + 1);
    }
    after.push_back(std::move(step));
  }
  nlohmann::json json = state_of(nest);
  json["steps"] = std::move(after);
  return json;
}

nlohmann::json explained_run(const SearchResult& result) {
  nlohmann::json all = to_json(result), shown;
  for (const char* part : {"network", "found", "original", "winner", "layers", "rest_ms", "tried",
                           "refused", "failed", "reasons"}) {
    shown[part] = all.at(part);
  }
  return shown;
}

ExplainedLayer explain_layer(const SearchResult& result, const std::string& name) {
  ExplainedLayer explained{find_layer(result, name), {}};
  std::vector<ResultVariant> variants = kind_of(result, explained.layer).variants;
  std::stable_sort(variants.begin(), variants.end(),
                   [](const ResultVariant& a, const ResultVariant& b) {
                     return a.after_ms.value_or(INFINITY) < b.after_ms.value_or(INFINITY);
                   });
  for (ResultVariant& variant : variants) {
    std::string fate = fate_of(variant, explained.layer, result.rule);
    explained.variants.push_back({std::move(variant), std::move(fate)});
  }
  return explained;
}

void visit_loops(const std::string& folder, const ResultLayer& layer,
                 const std::function<void(const Nest&, const std::vector<Judged>&)>& visit) {
  std::string path = folder + "/bundle/winner.recipe";
  if (!std::filesystem::exists(path)) return;
  Graph network = load_made(read_making(path).making);
  auto node = find_node(network, layer.layer);
  if (!node) return;
  Context context;
  Nest nest = samples_inward(nest_of(context, call_of(network, network.nodes[*node])));
  visit(nest, try_recipe(nest, parse_recipe(layer.recipe)));
}

nlohmann::json to_json(const ExplainedLayer& explained) {
  nlohmann::json json{{"layer", to_json(explained.layer)}, {"variants", nlohmann::json::array()}};
  for (const ExplainedVariant& each : explained.variants) {
    nlohmann::json variant = to_json(each.variant);
    variant["fate"] = each.fate;
    json["variants"].push_back(std::move(variant));
  }
  return json;
}

}  // namespace lathe
