// worker.cpp: "lathe worker": lends this machine to searches. The Python package does that.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/verb.h"
#include "cli/verb_workers.h"

namespace lathe::cli {
namespace {

struct WorkerArgs {
  WorkerOptions workers;
  std::string idle;
  int threads = 0;
  bool once = false;
};

int run_worker(const WorkerArgs& options) {
  std::string python = workers_python();
  if (python.empty()) {
    fail(
        "'lathe worker' is part of the Python package: install the wheel (make wheel), with "
        "'lathe[machines]', and use the command 'lathe' that comes with it");
  }
  std::vector<std::string> words{python, "-m", "lathe.workers.worker", "--scheduler",
                                 options.workers.address};
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--kind", options.workers.kind);
  add("--threads", std::to_string(options.threads));
  add("--idle", options.idle);
  add("--tls-ca", options.workers.tls_ca);
  add("--tls-cert", options.workers.tls_cert);
  add("--tls-key", options.workers.tls_key);
  if (options.workers.insecure) words.emplace_back("--insecure");
  if (options.once) words.emplace_back("--once");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  fail("cannot start '{}': {}", python, std::strerror(errno));
}

std::function<int()> set_up_worker(Command& app) {
  auto options = std::make_shared<WorkerArgs>();
  app.add_option("--scheduler ADDRESS", options->workers.address,
                 "who gives out the work: tcp://HOST:PORT or tls://HOST:PORT")
      ->required();
  app.add_option("--kind", options->workers.kind, "a name for machines that take equally long")
      ->otherwise("machines like this one need none");
  app.add_option("--threads", options->threads,
                 "how many variants are scored at a time; 0 means one per processor")
      ->check(range(0, 1024));
  app.add_option("--idle", options->idle,
                 "the share of this machine that other programs may use while it measures")
      ->otherwise("0.5")
      ->check(range(0.0, 1.0));
  app.add_flag("--once", options->once, "end when the scheduler does, instead of waiting for it");
  add_encryption_arguments(app, options->workers);
  return [options] { return run_worker(*options); };
}

}  // namespace

Verb worker() {
  return {"worker", "lend this machine to searches", set_up_worker,
          "lathe worker --scheduler tcp://localhost:8786"};
}

}  // namespace lathe::cli
