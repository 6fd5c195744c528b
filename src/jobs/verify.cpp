// verify.cpp: checking bundles and libraries as a job. Interface: verify.h.
#include "jobs/verify.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compile/library.h"
#include "jobs/made_from.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

/// Returns the Pythons that may have other libraries: $LATHE_PYTHON alone, or the one that is asked
/// first, that of the benchmarks (scripts/setup-bench) and those of the system.
std::vector<std::string> pythons(const std::string& first) {
  if (const char* told = std::getenv("LATHE_PYTHON")) return {told};
  std::vector<std::string> found;
  if (!first.empty()) found.push_back(first);
  std::error_code error;
  fs::path own = fs::read_symlink("/proc/self/exe", error);
  fs::path bench = (own.parent_path() / "../bench-venv/bin/python3").lexically_normal();
  for (const fs::path& path : {bench, fs::path("/usr/bin/python3")}) {
    if (fs::exists(path, error)) found.push_back(path.string());
  }
  found.emplace_back("python3");
  return found;
}

/// Returns what the library of a bundle computes, if that is less precise than its model.onnx.
LessPrecise less_precise_in(const std::string& folder) {
  std::string path = folder + "/winner.recipe";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  auto making = making_in(path);
  if (!making || !making->precision) return {};
  try {
    return {
        narrow_as_made(load_made(*making), import_onnx(folder + "/model.onnx"), read_making(path))};
  } catch (const UserError& error) {
    return {std::nullopt, fmt::format("it computes less precisely, which cannot be made again: {}",
                                      error.what())};
  }
}

const char* name_of(Check::Result result) {
  return result == Check::Result::same      ? "same"
         : result == Check::Result::differs ? "differs"
                                            : "skipped";
}

}  // namespace

std::vector<Check> verify_folder(VerifyJobOptions options) {
  options.how.target = native_target();
  options.how.pythons = pythons(options.python);
  std::error_code ignored;
  if (fs::exists(options.folder + "/bundle.json", ignored)) {
    if (!options.onnx.empty()) fail("--onnx is for libraries: a bundle has its own model.onnx");
    return verify_bundle(options.folder, options.how, less_precise_in(options.folder));
  }
  if (is_library(options.folder)) {
    return verify_library(options.folder, options.onnx, options.how);
  }
  fail(
      "'{}' has neither a bundle.json nor a manifest.json: 'lathe optimize' and 'lathe compile' "
      "write what can be verified",
      options.folder);
}

bool all_same(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.result == Check::Result::differs; });
}

nlohmann::json to_json(const std::vector<Check>& checks) {
  nlohmann::json all = nlohmann::json::array();
  for (const Check& check : checks) {
    all.push_back(
        {{"what", check.what}, {"result", name_of(check.result)}, {"detail", check.detail}});
  }
  return {{"same", all_same(checks)}, {"summary", summary_of(checks)}, {"checks", all}};
}

}  // namespace lathe
