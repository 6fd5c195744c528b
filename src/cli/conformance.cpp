// conformance.cpp: "lathe conformance DIR": runs ONNX's own tests and says what passed.
#include <nlohmann/json.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <regex>
#include <thread>

#include <unistd.h>

#include "base/error.h"
#include "cli/verb.h"
#include "compile/conformance.h"

namespace lathe::cli {
namespace {

using Status = ConformanceResult::Status;

struct ConformanceArgs {
  std::string folder;
  std::string only;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
};

struct Counts {
  size_t passed = 0, failed = 0, unsupported = 0;
  void add(Status status) {
    ++(status == Status::passed ? passed : status == Status::failed ? failed : unsupported);
  }
};

std::vector<ConformanceResult> run_all(const std::vector<ConformanceTest>& tests,
                                       const ConformanceArgs& options) {
  std::vector<ConformanceResult> results(tests.size());
  Target target = native_target();
  std::atomic<size_t> next = 0, done = 0;
  std::mutex printing;
  bool shows_progress = !options.json && isatty(STDERR_FILENO) != 0;
  auto work = [&] {
    for (size_t i = next++; i < tests.size(); i = next++) {
      results[i] = run_conformance_test(tests[i], target);
      size_t n = ++done;
      if (!shows_progress) continue;
      std::lock_guard lock(printing);
      fmt::print(stderr, "\r{} of {} ", n, tests.size());
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < options.jobs; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  if (shows_progress) fmt::print(stderr, "\r{:20}\r", "");
  return results;
}

void print_row(const std::string& name, const Counts& counts) {
  fmt::print("{:<44}{:>9}{:>9}{:>15}\n", name, counts.passed, counts.failed, counts.unsupported);
}

void print_table(const std::string& title, const std::map<std::string, Counts>& rows) {
  fmt::print("{:<44}{:>9}{:>9}{:>15}\n", title, "passed", "failed", "not supported");
  for (const auto& [name, counts] : rows) print_row(name, counts);
}

void print_text(const std::vector<ConformanceTest>& tests,
                const std::vector<ConformanceResult>& results) {
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

void print_json(const std::vector<ConformanceTest>& tests,
                const std::vector<ConformanceResult>& results) {
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < tests.size(); ++i) {
    json.push_back({{"kind", tests[i].kind},
                    {"name", tests[i].name},
                    {"status", name_of(results[i].status)},
                    {"reason", results[i].reason},
                    {"operators", results[i].operators}});
  }
  fmt::print("{}\n", json.dump(2));
}

std::regex parse_pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    fail("--only {}: that is no regular expression", text);
  }
}

int run_conformance(const ConformanceArgs& options) {
  std::vector<ConformanceTest> tests = find_conformance_tests(options.folder);
  if (!options.only.empty()) {
    std::regex pattern = parse_pattern(options.only);
    std::erase_if(tests, [&](const ConformanceTest& test) {
      return !std::regex_search(test.kind + "/" + test.name, pattern);
    });
    if (tests.empty()) fail("no test of '{}' matches '{}'", options.folder, options.only);
  }
  std::vector<ConformanceResult> results = run_all(tests, options);
  options.json ? print_json(tests, results) : print_text(tests, results);
  for (const ConformanceResult& result : results) {
    if (result.status == Status::failed) return 1;
  }
  return 0;
}

std::function<int()> set_up_conformance(Command& app) {
  auto options = std::make_shared<ConformanceArgs>();
  app.add_option("FOLDER", options->folder, "the folder of ONNX's backend tests")->required();
  app.add_option("--only REGEX", options->only, "run the tests whose KIND/NAME matches this");
  app.add_option("--jobs", options->jobs, "how many tests run at the same time")
      ->check(range(1, 256))
      ->otherwise("one for each core");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_conformance(*options); };
}

}  // namespace

Verb conformance() {
  return {"conformance", "run ONNX's own tests of backends", set_up_conformance,
          "lathe conformance /usr/share/libonnx-testdata/data --only node/test_relu"};
}

}  // namespace lathe::cli
