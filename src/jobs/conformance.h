// ONNX's own tests of backends, as a job.
//
//   ConformanceReport found = conformance({.folder = "data", .only = "node/test_relu"});
//   found.count(ConformanceResult::Status::passed)
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compile/conformance.h"
#include "jobs/event.h"

namespace lathe {

struct ConformanceOptions {
  std::string folder;
  std::string only;  ///< a regular expression; "" for all
  int jobs = 0;      ///< tests at the same time; 0: one for each processor
};

/// The tests that ran, and what came of each.
struct ConformanceReport {
  std::vector<ConformanceTest> tests;
  std::vector<ConformanceResult> results;

  size_t count(ConformanceResult::Status status) const;
};

/// Runs the tests. Fails if there are none, or if it was stopped.
ConformanceReport conformance(const ConformanceOptions& options, const JobListener& listener = {});

/// Converts what came of them to JSON.
nlohmann::json to_json(const ConformanceReport& found);

}  // namespace lathe
