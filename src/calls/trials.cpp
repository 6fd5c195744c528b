// trials.cpp: the call "trials": list what a search tried.
#include "jobs/trials.h"
#include "calls/call.h"

namespace lathe::calls {
namespace {

nlohmann::json run_trials(Options& options, const JobListener& /*listener*/) {
  std::string folder = options.required("folder");
  options.check_all_read();
  return to_json(read_journal(folder));
}

}  // namespace

ForeignCall trials() { return {"trials", "list what a search tried", run_trials}; }

}  // namespace lathe::calls
