// verify.cpp: "lathe verify FOLDER": whether a bundle, or a library, is what it says.
#include "jobs/verify.h"

#include "cli/verb_network.h"

namespace lathe::cli {
namespace {

struct VerifyArgs {
  VerifyJobOptions job;
  bool json = false;
};

const char* name_of(Check::Result result) {
  return result == Check::Result::same      ? "same"
         : result == Check::Result::differs ? "DIFFERS"
                                            : "skipped";
}

int run_verify(const VerifyArgs& options) {
  std::vector<Check> checks = verify_folder(options.job);
  if (options.json) {
    fmt::print("{}\n", to_json(checks).dump(2));
  } else {
    for (const Check& check : checks) {
      fmt::print("{:<15} {:<8} {}\n", check.what, name_of(check.result), check.detail);
    }
    fmt::print("{}\n", summary_of(checks));
  }
  return all_same(checks) ? 0 : 1;
}

std::function<int()> set_up_verify(Command& app) {
  auto options = std::make_shared<VerifyArgs>();
  VerifyJobOptions& job = options->job;
  app.add_option("FOLDER", job.folder, "a bundle, or a folder that 'lathe compile' wrote")
      ->required();
  app.add_option("--onnx FILE", job.onnx, "the network that a library was compiled from");
  app.add_option("--threads", job.how.threads, "number of workers that the library runs with")
      ->check(range(1, 256));
  app.add_option("--patience", job.how.patience,
                 "seconds that the interpreter may take; a quicker reference replaces it then");
  app.add_option("--seed", job.how.seed, "seed of the random input");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_verify(*options); };
}

}  // namespace

Verb verify() {
  return {"verify", "check that all files of a bundle compute the same", set_up_verify,
          "lathe verify runs/r18/bundle"};
}

}  // namespace lathe::cli
