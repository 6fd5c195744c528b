// Other machines that work for a search. It sends them tasks, and gets answers in any order.
//
//   WorkerPool pool({.address = "tcp://host:8786", .python = "python3"}, search, tell);
//   long id = pool.ask({{"do", "measure"}, {"recipe", "layer1.*: group(2)"}});
//   while (auto answer = pool.next(is_stopped)) ...
//
// A process of its own, "python3 -m lathe.workers", hands tasks on to Dask; the two exchange
// objects in JSON, one a line. It places a task again if a worker dies, hangs or cannot be trusted.
// After three failures, the answer is a failure with its reason.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lathe {

struct WorkerOptions {
  std::string address;  ///< "tcp://host:8786", "local:2", "ssh:hosts.txt", "slurm:20"
  std::string python;   ///< the Python that has the package
  std::string kind;     ///< the name of machines that measure; "": those that are like this one
  std::string tls_ca, tls_cert, tls_key;  ///< files; "": as Dask is configured
  bool insecure = false;                  ///< allow an address elsewhere without certificates
};

class WorkerPool {
 public:
  struct Answer {
    long id = 0;
    nlohmann::json result = nullptr;
    std::string failure = {};  ///< why nobody could do it; "" if somebody did
  };

  /// Starts the process. "search" is what all tasks are about, "here" what this machine is. "warn"
  /// hears of machines that cannot help, and why. Fails where there are no workers for this.
  WorkerPool(const WorkerOptions& options, const nlohmann::json& search, const nlohmann::json& here,
             std::function<void(const std::string&)> warn);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Returns what the machines are that measure, as they say it themselves; waits for one. Nothing
  /// once "stop" says so.
  nlohmann::json machine(const std::function<bool()>& stop);

  /// Sends a task; returns its number.
  long ask(nlohmann::json task);
  /// Forgets tasks: there will be no answers.
  void forget(const std::set<long>& ids);
  /// Returns an answer as soon as there is one; nothing once "stop" says so. It is asked every
  /// tenth of a second.
  std::optional<Answer> next(const std::function<bool()>& stop);

 private:
  std::function<void(const std::string&)> warn_;
  pid_t child_ = -1;
  int stream_ = -1;
  long asked_ = 0;
  std::set<long> open_;
  nlohmann::json machine_ = nullptr;
  std::string text_;  // that was read, and is no whole line yet

  void start(const std::vector<std::string>& words);
  void send(const nlohmann::json& message);
  std::optional<std::string> line(std::chrono::milliseconds patience);
  std::optional<Answer> heard(const std::string& line);
};

}  // namespace lathe
