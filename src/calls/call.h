// Calls: what other languages can ask Lathe for (calls/lathe.h). X.cpp defines one; helpers are in
// call_*.cpp.
//
//   calls::find_call("score").run(Options(R"({"network": "resnet20-cifar"})"), listener)
//
// A call reads its options, lets a job do the work, and returns what came of it. It has no logic of
// its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "calls/call_options.h"
#include "jobs/event.h"

namespace lathe {

struct ForeignCall {
  std::string name;
  std::string summary;  ///< one line
  nlohmann::json (*run)(Options& options, const JobListener& listener);
};

namespace calls {

/// Returns every call, sorted by name.
const std::vector<ForeignCall>& all();

/// Returns a call by name. If there is none, the error lists those that exist.
const ForeignCall& find_call(const std::string& name);

}  // namespace calls
}  // namespace lathe
