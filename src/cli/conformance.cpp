// conformance.cpp: "lathe conformance DIR": runs ONNX's own tests and says what passed.
#include "jobs/conformance.h"

#include <map>
#include <nlohmann/json.hpp>

#include "cli/verb_listener.h"

namespace lathe::cli {
namespace {

using Status = ConformanceResult::Status;

struct ConformanceArgs {
  ConformanceOptions job;
  bool json = false;
};

struct Counts {
  size_t passed = 0, failed = 0, unsupported = 0;
  void add(Status status) {
    ++(status == Status::passed ? passed : status == Status::failed ? failed : unsupported);
  }
};

void print_row(const std::string& name, const Counts& counts) {
  fmt::print("{:<44}{:>9}{:>9}{:>15}\n", name, counts.passed, counts.failed, counts.unsupported);
}

void print_table(const std::string& title, const std::map<std::string, Counts>& rows) {
  fmt::print("{:<44}{:>9}{:>9}{:>15}\n", title, "passed", "failed", "not supported");
  for (const auto& [name, counts] : rows) print_row(name, counts);
}

void print_text(const ConformanceReport& found) {
  const auto& [tests, results] = found;
  std::map<std::string, Counts> kinds, operators;
  for (size_t i = 0; i < tests.size(); ++i) {
    kinds[tests[i].kind].add(results[i].status);
    kinds["~ all"].add(results[i].status);
    for (const std::string& op : results[i].operators) operators[op].add(results[i].status);
  }
  print_table("operator (a test counts for each it uses)", operators);
  fmt::print("\n");
  auto all = kinds.extract("~ all");
  print_table("tests", kinds);
  print_row("all", all.mapped());
  for (size_t i = 0; i < tests.size(); ++i) {
    if (results[i].status != Status::failed) continue;
    fmt::print("\nfailed: {}/{}\n  {}\n", tests[i].kind, tests[i].name, results[i].reason);
  }
}

int run_conformance(const ConformanceArgs& options) {
  ConformanceReport found;
  {
    JobBar bar("tests");
    found = lathe::conformance(options.job, bar.listener());
  }
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump(2));
  } else {
    print_text(found);
  }
  return found.count(Status::failed) > 0 ? 1 : 0;
}

std::function<int()> set_up_conformance(Command& app) {
  auto options = std::make_shared<ConformanceArgs>();
  app.add_option("FOLDER", options->job.folder, "the folder of ONNX's backend tests")->required();
  app.add_option("--only REGEX", options->job.only, "run the tests whose KIND/NAME matches this");
  app.add_option("--jobs", options->job.jobs,
                 "how many tests run at the same time; 0 means one per processor")
      ->check(range(0, 256));
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_conformance(*options); };
}

}  // namespace

Verb conformance() {
  return {"conformance", "run ONNX's own tests of backends", set_up_conformance,
          "lathe conformance /usr/share/libonnx-testdata/data --only node/test_relu"};
}

}  // namespace lathe::cli
