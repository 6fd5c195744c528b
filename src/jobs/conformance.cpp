// conformance.cpp: ONNX's own tests. Interface: conformance.h.
#include "jobs/conformance.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {
namespace {

std::regex parse_pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    fail("--only {}: that is no regular expression", text);
  }
}

std::vector<ConformanceTest> tests_of(const ConformanceOptions& options) {
  std::vector<ConformanceTest> tests = find_conformance_tests(options.folder);
  if (options.only.empty()) return tests;
  std::regex pattern = parse_pattern(options.only);
  std::erase_if(tests, [&](const ConformanceTest& test) {
    return !std::regex_search(test.kind + "/" + test.name, pattern);
  });
  if (tests.empty()) fail("no test of '{}' matches '{}'", options.folder, options.only);
  return tests;
}

}  // namespace

size_t ConformanceReport::count(ConformanceResult::Status status) const {
  return static_cast<size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const ConformanceResult& result) { return result.status == status; }));
}

ConformanceReport conformance(const ConformanceOptions& options, const JobListener& listener) {
  ConformanceReport report{tests_of(options), {}};
  report.results.resize(report.tests.size());
  Target target = native_target();
  std::mutex mutex;
  size_t done = 0;
  for_each_index(report.tests.size(), options.jobs > 0 ? options.jobs : processors(),
                 [&](size_t i) {
                   if (listener.is_stopped()) throw JobStopped();
                   report.results[i] = run_conformance_test(report.tests[i], target);
                   std::lock_guard lock(mutex);
                   listener(WorkDone{"tests", ++done, report.tests.size()});
                 });
  return report;
}

nlohmann::json to_json(const ConformanceReport& found) {
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < found.tests.size(); ++i) {
    json.push_back({{"kind", found.tests[i].kind},
                    {"name", found.tests[i].name},
                    {"status", name_of(found.results[i].status)},
                    {"reason", found.results[i].reason},
                    {"operators", found.results[i].operators}});
  }
  return json;
}

}  // namespace lathe
