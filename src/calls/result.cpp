// result.cpp: the call "result": read the result of a search.
#include "calls/call.h"
#include "results/search_result.h"

namespace lathe::calls {
namespace {

nlohmann::json run_result(Options& options, const JobListener& /*listener*/) {
  std::string folder = options.required("folder");
  options.check_all_read();
  return to_json(read_search_result(folder));
}

}  // namespace

ForeignCall result() { return {"result", "read the result of a search", run_result}; }

}  // namespace lathe::calls
