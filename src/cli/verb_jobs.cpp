// verb_jobs.cpp: --jobs. Interface: verb_jobs.h.
#include "cli/verb_jobs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "backends/backend.h"
#include "base/error.h"

namespace lathe::cli {

void add_jobs_arguments(Command& app, JobsArguments& arguments) {
  app.add_option("--jobs FOLDER", arguments.folder,
                 "of a GPU in another machine: write what is to be measured into this folder, and "
                 "go on with FOLDER/results")
      ->writes();
  app.add_option("--host", arguments.host, "the CPU of that machine: aarch64, x86-64-v3, ...")
      ->otherwise("like this machine's");
  app.add_option("--most MIB", arguments.most, "the size of the jobs that are written at a time")
      ->check(range(1L, 100000L));
  app.add_option("--rounds", arguments.rounds,
                 "how often jobs are carried there at most; the last time they are whole networks")
      ->check(range(2, JobFolderOptions().most_rounds));
}

Target measured_target(const std::string& name, const JobsArguments& arguments) {
  Target target = target_named(name);
  bool elsewhere = !arguments.folder.empty();
  if (!elsewhere && !arguments.host.empty()) fail("--host is for --jobs: give that, too");
  if (elsewhere && !target.is_gpu()) {
    fail("--jobs is for GPUs, as in --target cuda:sm_90: code for CPUs is measured here");
  }
  if (target.is_gpu()) return elsewhere ? target_or_machine(name) : machine_named(name);
  Target native = native_target();
  if (name != "native" && full_name(target) != full_name(native)) {
    fail("code for {} is measured on such a machine, and this one is {}", full_name(target),
         full_name(native));
  }
  return native;
}

JobFolderOptions folder_options(const JobsArguments& arguments, const std::string& otherwise) {
  JobFolderOptions options;
  options.here = arguments.folder.empty();
  options.folder = options.here ? otherwise : arguments.folder;
  if (!arguments.host.empty()) options.host = arguments.host;
  options.most_bytes = arguments.most << 20;
  options.most_rounds = arguments.rounds;
  return options;
}

void print_waiting(const JobsArguments& arguments, const WaitingJobs& waiting, bool json) {
  const std::string& folder = arguments.folder;
  if (json) {
    nlohmann::json all{{"waiting", waiting.jobs},   {"folder", folder},
                       {"round", waiting.round},    {"most_rounds", arguments.rounds},
                       {"written", waiting.is_new}, {"bytes", waiting.bytes}};
    fmt::print("{}\n", all.dump());
    return;
  }
  if (waiting.is_new) {
    fmt::print("round {} of at most {}: {} jobs in {}, {:.1f} MiB\n", waiting.round,
               arguments.rounds, waiting.jobs, folder,
               static_cast<double>(waiting.bytes) / (1 << 20));
  } else {
    fmt::print("round {} of at most {}: {} jobs in {} have no result yet\n", waiting.round,
               arguments.rounds, waiting.jobs, folder);
  }
  fmt::print(
      "copy {0} to the machine, run '{0}/measure-jobs {0}' there, copy {0}/results back\n"
      "and give this command again\n",
      folder);
}

}  // namespace lathe::cli
