// What steps do to a nest, and what a search did to a network, as a job.
//
//   explained_nest(nest, try_recipe(nest, recipe))         loops, cost and verdict, step by step
//   SearchResult result = read_search_result("runs/r34");
//   explained_run(result)                                  what became of each layer
//   ExplainedLayer layer = explain_layer(result, "layer3.0.conv1");
//   layer.variants.front().fate                            "refused: fisher outside of 0.8 to 1.2"
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "legality/legality.h"
#include "results/search_result.h"

namespace lathe {

/// Is there a search in the folder?
bool is_search(const std::string& folder);

/// Returns a nest and what each step made of it, as JSON: loops, cost, verdicts.
nlohmann::json explained_nest(const Nest& nest, const std::vector<Judged>& steps);

/// Returns what was done to each layer of a network, and why others were refused, as JSON.
nlohmann::json explained_run(const SearchResult& result);

/// What a layer could have become, and what came of that.
struct ExplainedVariant {
  ResultVariant variant;
  std::string fate;  ///< "chosen", "slower than what was chosen", ...
};

struct ExplainedLayer {
  ResultLayer layer;
  std::vector<ExplainedVariant> variants;  ///< the fastest first; those that failed come last
};

/// Finds a layer. Fails, and names the nearest one, if the search could not change it.
ExplainedLayer explain_layer(const SearchResult& result, const std::string& layer);

/// Calls "visit" with the loops of a layer as it was, and the steps that the search chose. Only
/// where the folder has a bundle, which says what the network is.
void visit_loops(const std::string& folder, const ResultLayer& layer,
                 const std::function<void(const Nest&, const std::vector<Judged>&)>& visit);

/// Converts it to JSON.
nlohmann::json to_json(const ExplainedLayer& explained);

}  // namespace lathe
