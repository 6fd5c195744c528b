// report.cpp: the call "report": write a page about a search.
#include "calls/call.h"
#include "jobs/page.h"

namespace lathe::calls {
namespace {

nlohmann::json run_report(Options& options, const JobListener& /*listener*/) {
  std::string folder = options.required("folder"), output;
  options.read("output", output);
  options.check_all_read();
  return {{"output", write_report(folder, output)}};
}

}  // namespace

ForeignCall report() { return {"report", "write a page about a search", run_report}; }

}  // namespace lathe::calls
