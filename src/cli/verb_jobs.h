// Measuring on a device that may be elsewhere, as options of verbs.
#pragma once

#include "cli/verb_command.h"
#include "codegen/target.h"
#include "search/job_folder.h"

namespace lathe::cli {

struct JobsArguments {
  std::string folder, host;
  long most = 48;  ///< MiB
  int rounds = JobFolderOptions().most_rounds;
};

/// Adds --jobs, --host, --most and --rounds.
void add_jobs_arguments(Command& app, JobsArguments& arguments);

/// Returns the target of a verb that measures: a machine of this computer or, with --jobs, perhaps
/// of another one. Fails if it has a mistake, or if the arguments do not go together.
Target measured_target(const std::string& name, const JobsArguments& arguments);

/// Returns what the folder of --jobs is made with. Without --jobs, it is "otherwise", and the
/// device is here.
JobFolderOptions folder_options(const JobsArguments& arguments, const std::string& otherwise);

/// Jobs that wait for their results.
struct WaitingJobs {
  size_t jobs = 0;
  bool is_new = false;  ///< were they written just now?
  long bytes = 0;
  int round = 0;
};

/// Says what is to be done with them.
void print_waiting(const JobsArguments& arguments, const WaitingJobs& waiting, bool json);

}  // namespace lathe::cli
