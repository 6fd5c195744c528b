// interpolate.cpp: the call "interpolate": show the networks between two networks.
#include "jobs/interpolate.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_interpolate(Options& options, const JobListener& listener) {
  InterpolateOptions job;
  std::string rule = "two-sided";
  job.score = data_options(options, job.score);
  InterpolationEnds ends{options.required("first"), options.required("second")};
  job.first = parse_recipe(ends.first);
  job.second = parse_recipe(ends.second);
  options.read("points", job.between.points, {0, 1000});
  options.read("layer", job.between.layers);
  options.read("rule", rule);
  options.read("seconds", job.seconds, {1e-6});
  options.read("threads", job.threads, {1, 256});
  options.check_all_read();
  job.rule = find_rule(rule);
  nlohmann::json networks = nlohmann::json::array();
  for (const InterpolatedNetwork& network : lathe::interpolate(job, listener)) {
    networks.push_back(to_json(network, ends));
  }
  return {{"networks", networks}, {"metric", job.rule.metrics().front().name}};
}

}  // namespace

ForeignCall interpolate() {
  return {"interpolate", "show the networks between two networks", run_interpolate};
}

}  // namespace lathe::calls
