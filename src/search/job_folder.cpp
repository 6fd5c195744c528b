// job_folder.cpp: jobs in files, and their results. Interface: job_folder.h.
#include "search/job_folder.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "backends/backend_program.h"
#include "base/error.h"
#include "compile/embedded.h"
#include "data/file.h"
#include "search/job_record.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

constexpr const char *plan_file = "plan.json", *results_file = "results", *ending = ".jobs",
                     *program_file = "measure-jobs";

void write_text(const std::string& path, std::string_view text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

/// Reads "device MULTIPROCESSORS CAPABILITY MODEL" behind its first word.
void add_device(std::istringstream& words, JobResults& results) {
  JobDevice device;
  if (!(words >> device.multiprocessors >> device.capability)) return;
  device.model = rest_of(words);
  if (device.model.empty()) return;
  std::erase(results.devices, device);
  results.devices.push_back(device);
}

/// Reads what stands behind a job's name; nothing if that is no result.
std::optional<JobResult> result_in(std::istringstream& words) {
  std::string kind, off;
  JobResult result;
  double least = 0;
  words >> kind;
  if (kind == "failed") {
    result.failure = rest_of(words);
    if (result.failure.empty()) result.failure = "it failed";
    return result;
  }
  std::string median, error;
  if (kind != "milliseconds" || !(words >> least >> median >> off >> error) || off != "off") {
    return std::nullopt;
  }
  // Streams do not read "nan" and "inf", which outputs may be off by.
  char* end = nullptr;
  result.time = std::strtod(median.c_str(), &end) * 1e-3;
  if (*end != 0 || !(result.time > 0)) return std::nullopt;
  result.off = std::strtod(error.c_str(), &end);
  if (*end != 0) return std::nullopt;
  return result;
}

}  // namespace

JobResults parse_results(const std::string& text) {
  JobResults results;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // it was cut short
    std::istringstream words(text.substr(at, end - at));
    at = end + 1;
    std::string name;
    if (!(words >> name)) continue;
    if (name == "device") {
      add_device(words, results);
    } else if (auto result = result_in(words)) {
      results.of_job[name] = *result;
    }
  }
  return results;
}

JobFolder::JobFolder(JobFolderOptions options) : options_(std::move(options)) {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (!fs::is_directory(options_.folder)) {
    fail("cannot make the folder '{}': {}", options_.folder, error.message());
  }
  if (fs::exists(file(plan_file))) {
    plan = nlohmann::json::parse(read_file(file(plan_file)), nullptr, false);
    if (!plan.is_object()) {
      fail("'{}' is damaged: remove the folder '{}', or give --again", file(plan_file),
           options_.folder);
    }
  } else {
    // What was killed before its plan was written is begun again.
    for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder)) {
      std::string name = entry.path().filename().string();
      bool own = name.ends_with(ending) || name.starts_with(program_file) || name == results_file;
      if (own) continue;
      fail("the folder '{}' holds something else, '{}': give a new one", options_.folder, name);
    }
  }
  read_results();
}

void JobFolder::read_results() {
  results_ = {};
  if (fs::exists(file(results_file))) results_ = parse_results(read_file(file(results_file)));
}

const JobResult* JobFolder::result(const std::string& job) const {
  auto found = results_.of_job.find(job);
  return found == results_.of_job.end() ? nullptr : &found->second;
}

std::optional<JobDevice> JobFolder::device() const {
  if (results_.devices.empty()) return std::nullopt;
  if (results_.devices.size() > 1) {
    fail("the results in '{}' are of several devices, '{}' and '{}': begin again with --again",
         options_.folder, results_.devices[0].model, results_.devices[1].model);
  }
  return results_.devices.front();
}

bool JobFolder::add(const std::string& records) {
  std::string start = records_.empty() ? job_file_start() : "";
  if (bytes() + static_cast<long>(start.size() + records.size()) > options_.most_bytes) {
    return false;
  }
  records_ += start;
  records_ += records;
  return true;
}

void JobFolder::remove_jobs() const {
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder)) {
    if (entry.path().extension() == ending) fs::remove(entry.path());
  }
}

void JobFolder::write(const std::string& name) {
  remove_jobs();
  write_text(file(name + ending), records_);
  records_.clear();
  Target host = target_named(options_.host);
  if (host.is_gpu()) fail("--host {}: programs run on CPUs: aarch64, x86-64-v3, ...", host.name);
  link_program(host, measuring_objects(host), "lathe_measure_main", file(program_file));
  write_plan();
}

void JobFolder::write_plan() const { write_text(file(plan_file), plan.dump(1)); }

void JobFolder::run() {
  if (!options_.here) return;
  std::string program = file(program_file), seconds = fmt::format("{}", options_.seconds);
  pid_t parent = getpid(), child = fork();
  if (child < 0) fail("cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), options_.folder.c_str(), seconds.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  bool interrupted = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
  if (status != 0 && !interrupted) fail("'{}' could not measure: give --again", program);
  read_results();
}

void JobFolder::clear() {
  remove_jobs();
  for (const char* name : {plan_file, results_file}) fs::remove(file(name));
  plan = nullptr;
  results_ = {};
  records_.clear();
}

}  // namespace lathe
