// list.cpp: the call "list": list the networks that are built in, operators, transformations,
// passes and metrics.
#include "calls/call.h"
#include "metrics/metric.h"
#include "models/model.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "transforms/transform.h"

namespace lathe::calls {
namespace {

/// Returns the names and summaries of a registry's members.
template <class Member>
nlohmann::json summaries(const std::vector<Member>& members) {
  nlohmann::json result = nlohmann::json::array();
  for (const Member& each : members) {
    result.push_back({{"name", each.name}, {"summary", each.summary}});
  }
  return result;
}

nlohmann::json all_transforms() {
  nlohmann::json result = nlohmann::json::array();
  for (const Transform& each : transforms::all()) {
    result.push_back(
        {{"name", each.name}, {"kind", name_of(each.kind)}, {"summary", each.rewrite}});
  }
  return result;
}

nlohmann::json run_list(Options& options, const JobListener& /*listener*/) {
  options.check_all_read();
  nlohmann::json models = nlohmann::json::array();
  for (const ModelEntry& model : list_models()) {
    models.push_back(
        {{"name", model.name}, {"example", model.example}, {"summary", model.summary}});
  }
  return {{"models", models},
          {"operators", summaries(ops::all())},
          {"transforms", all_transforms()},
          {"passes", summaries(passes::all())},
          {"metrics", summaries(metrics::all())}};
}

}  // namespace

ForeignCall list() {
  return {"list",
          "list the networks that are built in, operators, transformations, passes and metrics",
          run_list};
}

}  // namespace lathe::calls
