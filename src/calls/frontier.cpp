// frontier.cpp: the call "frontier": find faster networks for more and more accuracy that may be
// lost.
#include "jobs/frontier.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "calls/call_search.h"

namespace lathe::calls {
namespace {

nlohmann::json run_frontier(Options& options, const JobListener& listener) {
  FrontierOptions job{.search = search_options(options)};
  options.read("points", job.points, {1, 100});
  options.read("from", job.least, {0});
  options.read("to", job.most, {0});
  options.check_all_read();
  job.search.blocks = false;
  FrontierResult found = find_frontier(job, listener);
  nlohmann::json points = nlohmann::json::array();
  for (const FrontierPoint& point : found.points) {
    points.push_back({{"tolerance", point.tolerance},
                      {"folder", point.folder},
                      {"result", to_json(point.result)}});
  }
  return {{"folder", found.folder}, {"stopped", found.stopped}, {"points", points}};
}

}  // namespace

ForeignCall frontier() {
  return {"frontier", "find faster networks for more and more accuracy that may be lost",
          run_frontier};
}

}  // namespace lathe::calls
