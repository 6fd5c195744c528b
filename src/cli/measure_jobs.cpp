// measure_jobs.cpp: "lathe measure-jobs FOLDER": measures compiled networks, here or on a machine
// without Lathe.
#include <filesystem>

#include "backends/backend_program.h"
#include "base/error.h"
#include "cli/verb.h"
#include "compile/embedded.h"
#include "runtime/measure.h"

namespace lathe::cli {
namespace {

struct MeasureJobsArgs {
  std::string folder, host;
  double seconds = 0, total = 0;
};

/// Writes the program that does the same where there is only libc.
void write_measuring_program(const MeasureJobsArgs& options) {
  Target host = target_named(options.host);
  if (host.is_gpu()) fail("--host {}: programs run on CPUs: aarch64, x86-64-v3, ...", host.name);
  std::string program = options.folder + "/measure-jobs";
  link_program(host, measuring_objects(host), "lathe_measure_main", program);
  fmt::print("{0}: copy '{1}' to the machine and run 'measure-jobs FOLDER' there\n", program,
             options.folder);
}

int run_measure_jobs(const MeasureJobsArgs& options) {
  if (!std::filesystem::is_directory(options.folder)) {
    fail("there is no folder '{}'; 'lathe compile -o FOLDER/NAME --name NAME' makes jobs",
         options.folder);
  }
  if (options.host.empty())
    return lathe_measure_jobs(options.folder.c_str(), options.seconds, options.total);
  write_measuring_program(options);
  return 0;
}

std::function<int()> set_up_measure_jobs(Command& app) {
  auto options = std::make_shared<MeasureJobsArgs>();
  app.add_option(
         "FOLDER", options->folder,
         "a folder of libraries: FOLDER/NAME, written by 'lathe compile --name NAME'; or of "
         "'lathe tune --jobs FOLDER'")
      ->required();
  app.add_option("--host", options->host,
                 "write a program for another machine, instead of measuring here: aarch64, "
                 "x86-64-v3, ...");
  app.add_option("--seconds", options->seconds, "how long to measure each")
      ->otherwise("0.3, of tuning 0.03")
      ->check(range(0.001, 3600.0));
  app.add_option("--total", options->total, "begin no more after so many seconds")
      ->otherwise("no limit")
      ->check(range(0.001, 1e6));
  return [options] { return run_measure_jobs(*options); };
}

}  // namespace

Verb measure_jobs() {
  return {"measure-jobs", "measure compiled networks, here or where there is no Lathe",
          set_up_measure_jobs, "lathe measure-jobs jobs --host x86-64-v3"};
}

}  // namespace lathe::cli
