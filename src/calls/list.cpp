// list.cpp: the call "list": list operators, steps, networks and the other registries.
#include "calls/call.h"
#include "jobs/listing.h"

namespace lathe::calls {
namespace {

nlohmann::json run_list(Options& options, const JobListener& /*listener*/) {
  std::string what = options.required("what");
  options.check_all_read();
  return to_json(list_of(what));
}

}  // namespace

ForeignCall list() {
  return {"list", "list transforms, operators, models, metrics, passes and more", run_list};
}

}  // namespace lathe::calls
