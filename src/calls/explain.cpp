// explain.cpp: the call "explain": show what steps do, or what a search did, and why.
#include "jobs/explain.h"
#include "calls/call.h"
#include "jobs/applied.h"
#include "ops/op.h"

namespace lathe::calls {
namespace {

nlohmann::json of_search(Options& options) {
  std::string folder, layer;
  options.read("folder", folder);
  options.read("layer", layer);
  options.check_all_read();
  SearchResult result = read_search_result(folder);
  if (layer.empty()) return explained_run(result);
  ExplainedLayer explained = explain_layer(result, layer);
  nlohmann::json json = to_json(explained);
  visit_loops(folder, explained.layer, [&](const Nest& nest, const std::vector<Judged>& steps) {
    json["nest"] = explained_nest(nest, steps);
  });
  return json;
}

nlohmann::json run_explain(Options& options, const JobListener& /*listener*/) {
  if (options.has("folder")) return of_search(options);
  Context context;
  Nest nest = load_nest(context, options.required("nest"));
  std::string steps;
  Limits limits;
  options.read("recipe", steps);
  options.read("max_error", limits.error, {0});
  options.check_all_read();
  return explained_nest(nest, try_recipe(nest, load_recipe(steps), limits));
}

}  // namespace

ForeignCall explain() {
  return {"explain", "show what steps do, or what a search did, and why", run_explain};
}

}  // namespace lathe::calls
