// call_interface.cpp: the functions for C that call by name. Interface: lathe.h, call_interface.h.
#include "calls/call_interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>

#include "base/failure.h"
#include "calls/call.h"
#include "compile/embedded.h"

namespace lathe {
namespace {

thread_local std::string last_error;

/// Copies a text for C, which frees it.
char* copied(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  return static_cast<char*>(std::memcpy(copy, text.c_str(), text.size() + 1));
}

nlohmann::json all_calls() {
  nlohmann::json all = nlohmann::json::array();
  for (const ForeignCall& call : calls::all()) {
    all.push_back({{"name", call.name}, {"summary", call.summary}});
  }
  return all;
}

}  // namespace

const ForeignCall& calls::find_call(const std::string& name) {
  std::vector<std::string> names;
  for (const ForeignCall& call : all()) {
    if (call.name == name) return call;
    names.push_back(call.name);
  }
  fail("there is no call '{}'; there are {}", name, fmt::join(names, ", "));
}

lathe_status guarded(const std::function<void()>& work) {
  try {
    last_error.clear();
    work();
    return LATHE_DONE;
  } catch (const JobStopped&) {
    last_error = "stopped before there was a result";
    return LATHE_STOPPED;
  } catch (...) {
    Failure failure = current_failure();
    last_error = failure.message;
    return failure.kind == Failure::Kind::bug ? LATHE_BUG : LATHE_WRONG;
  }
}

JobListener ForeignListener::listener() {
  JobListener result;
  if (foreign_ == nullptr) return result;
  if (foreign_->tell != nullptr) result.tell = [this](const JobEvent& event) { tell(event); };
  if (foreign_->stop != nullptr) result.stop = [this] { return stop(); };
  return result;
}

void ForeignListener::tell(const JobEvent& event) {
  std::optional<nlohmann::json> json = to_json(event);
  if (!json) return;
  std::string text = json->dump();
  std::lock_guard lock(mutex_);
  foreign_->tell(foreign_->self, text.c_str());
}

bool ForeignListener::stop() {
  std::lock_guard lock(mutex_);
  if (foreign_->stop(foreign_->self) != 0) has_stopped_ = true;
  return has_stopped_;
}

}  // namespace lathe

const char* lathe_version() {
  static const std::string version(lathe::lathe_version());
  return version.c_str();
}

const char* lathe_error() { return lathe::last_error.c_str(); }

const char* lathe_calls() {
  static const std::string text = lathe::all_calls().dump();
  return text.c_str();
}

lathe_status lathe_call(const char* name, const char* options, const lathe_listener* listener,
                        char** result) {
  lathe::ForeignListener foreign(listener);
  if (result != nullptr) *result = nullptr;
  lathe_status status = lathe::guarded([&] {
    const lathe::ForeignCall& call = lathe::calls::find_call(name);
    lathe::Options given(options == nullptr ? "{}" : options);
    nlohmann::json found = call.run(given, foreign.listener());
    if (result != nullptr) *result = lathe::copied(found.dump());
  });
  return status == LATHE_WRONG && foreign.has_stopped() ? LATHE_STOPPED : status;
}

void lathe_free(char* text) { std::free(text); }
