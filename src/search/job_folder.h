// A folder of jobs for a device that may be elsewhere, and what came of them.
//
//   JobFolder folder({"jobs", "x86-64-v3"});
//   if (!folder.result("u1")) folder.add("u1", unit_job("u1", ...));
//   folder.write("round1");                      jobs/round1.jobs, jobs/measure-jobs
//
// Somebody copies the folder to the machine, runs "measure-jobs FOLDER" there, and brings the file
// FOLDER/results back. If the device is here, run() does that at once, in a process of its own, so
// that this one never has anything to do with the device.
//
// FOLDER/plan.json says what the jobs are for. Whoever makes them keeps it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lathe {

/// What came of a job.
struct JobResult {
  double time = 0;      ///< median in seconds
  double off = -1;      ///< the largest error of its outputs (runtime/job.h); -1: not compared
  std::string failure;  ///< why there is no time; "" if there is
};

/// The device that measured.
struct JobDevice {
  std::string model;
  long multiprocessors = 0, capability = 0;

  friend bool operator==(const JobDevice&, const JobDevice&) = default;
};

/// All that a file of results says. Lines that are no results are left out: the last one may have
/// been cut short.
struct JobResults {
  std::map<std::string, JobResult> of_job;
  std::vector<JobDevice> devices;  ///< each once, the last one used last
};
JobResults parse_results(const std::string& text);

struct JobFolderOptions {
  std::string folder;
  std::string host = "native";  ///< the CPU of the machine that has the device
  bool here = false;            ///< is that this computer?
  long most_bytes = 48L << 20;  ///< of the jobs that are written at a time
  int most_rounds = 4;          ///< where somebody carries jobs to the device
  double seconds = 0;           ///< for which each is measured here; 0: as long as is usual
};

class JobFolder {
 public:
  /// Makes the folder if there is none; reads its results and its plan. Fails if the folder cannot
  /// be written, or holds something else.
  explicit JobFolder(JobFolderOptions options);

  const std::string& path() const { return options_.folder; }
  bool is_here() const { return options_.here; }
  long most_bytes() const { return options_.most_bytes; }
  int most_rounds() const { return options_.most_rounds; }

  /// Returns what came of a job, null if that is not known.
  const JobResult* result(const std::string& job) const;
  /// Returns the device that measured; nothing if nothing was measured. Fails if there were
  /// several.
  std::optional<JobDevice> device() const;

  /// What the jobs are for, in the words of who made them; null in a new folder.
  nlohmann::json plan;

  /// Adds records to those that are written next. Returns false, and does nothing, if they would
  /// have more than the most bytes then.
  bool add(const std::string& records);
  long bytes() const { return static_cast<long>(records_.size()); }
  /// Writes what was added as NAME.jobs, the plan, and the program that measures. Files of earlier
  /// jobs go, as all of these were measured.
  void write(const std::string& name);
  /// Writes the plan alone.
  void write_plan() const;

  /// Runs the program, if the device is here, and reads what came of it. Fails if it cannot be run.
  void run();

  /// Removes jobs, results and plan.
  void clear();

 private:
  JobFolderOptions options_;
  JobResults results_;
  std::string records_;

  std::string file(const std::string& name) const { return options_.folder + "/" + name; }
  void read_results();
  void remove_jobs() const;
};

}  // namespace lathe
