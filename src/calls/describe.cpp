// describe.cpp: the call "describe": describe a network: layers, shapes, costs.
#include "jobs/describe.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_describe(Options& options, const JobListener& /*listener*/) {
  NetworkArguments network = network_options(options);
  options.check_all_read();
  Graph graph = load_network(network);
  nlohmann::json result = lathe::describe(graph);
  result["trained"] = is_trained(graph);
  return result;
}

}  // namespace

ForeignCall describe() {
  return {"describe", "describe a network: layers, shapes, costs", run_describe};
}

}  // namespace lathe::calls
