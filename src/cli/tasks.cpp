// tasks.cpp: "lathe tasks": does the tasks of a search that is made elsewhere, a line of JSON each.
#include <iostream>

#include "base/parallel.h"
#include "cli/verb.h"
#include "jobs/search_tasks.h"

namespace lathe::cli {
namespace {

void print_line(const nlohmann::json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

int run_tasks(int threads) {
  nlohmann::json about = about_this_machine();
  about["threads"] = threads = threads > 0 ? threads : processors();
  print_line(about);
  SearchTasks tasks(threads);
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json task = nlohmann::json::parse(line, nullptr, false);
    if (!task.is_object()) fail("a task is an object in JSON, in a line");
    print_line(tasks.run(task));
  }
  return 0;
}

std::function<int()> set_up_tasks(Command& app) {
  auto threads = std::make_shared<int>(0);
  app.add_option("--threads", *threads,
                 "how many variants are scored at a time; 0 means one per processor")
      ->check(range(0, 1024));
  return [threads] { return run_tasks(*threads); };
}

}  // namespace

Verb tasks() {
  return {"tasks", "do the tasks of a search, for 'lathe worker': JSON in, JSON out", set_up_tasks,
          "lathe tasks --threads 2 < tasks.json"};
}

}  // namespace lathe::cli
