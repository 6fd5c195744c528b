// apply.cpp: the call "apply": apply a recipe to a nest: verdicts, loops, cost.
#include "calls/call.h"
#include "jobs/applied.h"
#include "ops/op.h"

namespace lathe::calls {
namespace {

nlohmann::json run_apply(Options& options, const JobListener& /*listener*/) {
  Context context;
  Nest nest = load_nest(context, options.required("nest"));
  std::string steps;
  options.read("recipe", steps);
  Limits limits;
  options.read("max_error", limits.error, {0});
  options.check_all_read();
  Recipe recipe = load_recipe(steps);
  std::vector<Judged> judged = try_recipe(nest, recipe, limits);
  nlohmann::json result = applied_to_json(nest, recipe, judged);
  result["accepted"] = judged.empty() || judged.back().verdict.accepted();
  return result;
}

}  // namespace

ForeignCall apply() {
  return {"apply", "apply a recipe to a nest: verdicts, loops, cost", run_apply};
}

}  // namespace lathe::calls
