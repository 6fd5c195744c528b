// verify.cpp: "lathe verify FOLDER": whether a bundle, or a library, is what it says.
#include "bundle/verify.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "cli/verb_network.h"
#include "compile/library.h"
#include "jobs/made_from.h"
#include "onnx/onnx.h"

namespace lathe::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyArgs {
  std::string folder, onnx;
  VerifyOptions how;
  bool json = false;
};

/// Returns the Pythons that may have other libraries: $LATHE_PYTHON alone, or that of the
/// benchmarks (scripts/setup-bench) and those of the system.
std::vector<std::string> pythons() {
  if (const char* told = std::getenv("LATHE_PYTHON")) return {told};
  std::vector<std::string> found;
  std::error_code error;
  fs::path own = fs::read_symlink("/proc/self/exe", error);
  fs::path bench = (own.parent_path() / "../bench-venv/bin/python3").lexically_normal();
  for (const fs::path& path : {bench, fs::path("/usr/bin/python3")}) {
    if (fs::exists(path, error)) found.push_back(path.string());
  }
  found.emplace_back("python3");
  return found;
}

const char* name_of(Check::Result result) {
  return result == Check::Result::same      ? "same"
         : result == Check::Result::differs ? "DIFFERS"
                                            : "skipped";
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

std::vector<Check> checks_of(const VerifyArgs& options) {
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

int run_verify(VerifyArgs& options) {
  options.how.target = native_target();
  options.how.pythons = pythons();
  std::vector<Check> checks = checks_of(options);
  size_t wrong = 0;
  nlohmann::json json = nlohmann::json::array();
  for (const Check& check : checks) {
    wrong += check.result == Check::Result::differs ? 1 : 0;
    std::string result = check.result == Check::Result::differs ? "differs" : name_of(check.result);
    json.push_back({{"what", check.what}, {"result", result}, {"detail", check.detail}});
    if (!options.json) {
      fmt::print("{:<15} {:<8} {}\n", check.what, name_of(check.result), check.detail);
    }
  }
  if (options.json) {
    nlohmann::json all{{"same", wrong == 0}, {"summary", summary_of(checks)}, {"checks", json}};
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{}\n", summary_of(checks));
  }
  return wrong == 0 ? 0 : 1;
}

std::function<int()> set_up_verify(Command& app) {
  auto options = std::make_shared<VerifyArgs>();
  app.add_option("FOLDER", options->folder, "a bundle, or a folder that 'lathe compile' wrote")
      ->required();
  app.add_option("--onnx FILE", options->onnx, "the network that a library was compiled from");
  app.add_option("--threads", options->how.threads, "number of workers that the library runs with")
      ->check(range(1, 256));
  app.add_option("--patience", options->how.patience,
                 "seconds that the interpreter may take; a quicker reference replaces it then");
  app.add_option("--seed", options->how.seed, "seed of the random input");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_verify(*options); };
}

}  // namespace

Verb verify() {
  return {"verify", "check that all files of a bundle compute the same", set_up_verify,
          "lathe verify runs/r18/bundle"};
}

}  // namespace lathe::cli
