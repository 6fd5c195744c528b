// fleet.cpp: see fleet.h.
#include "jobs/fleet.h"

#include "base/error.h"
#include "jobs/work_folder.h"

namespace lathe {

std::vector<OptimizeResult> optimize_fleet(const OptimizeOptions& options,
                                           const std::vector<std::string>& machines,
                                           const JobListener& listener) {
  if (options.workers.address.empty()) {
    fail("several machines measure as workers: give --workers, too");
  }
  OptimizeOptions each = options;
  std::string folder = options.folder;
  if (folder.empty()) folder = work_folder_of(options.score.network.network);
  std::vector<OptimizeResult> results;
  try {
    if (!each.judge) each.judge = judge_for(options.score, options.rule, listener);
  } catch (const JobStopped&) {
    return {{folder, true}};
  }
  for (const std::string& machine : machines) {
    if (machine.empty() || machine.find('/') != std::string::npos) {
      fail("'{}' is no name of machines; write several as --machine old,new", machine);
    }
    each.workers.kind = machine;
    each.folder = folder + "/" + machine;
    results.push_back(optimize(each, listener));
    if (results.back().stopped) break;
    each.scores_in = each.folder;
  }
  return results;
}

}  // namespace lathe
