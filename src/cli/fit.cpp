// fit.cpp: "lathe fit NETWORK --apply RECIPE": gives a changed network weights with which its
// layers compute nearly what they did in the trained original.
#include "jobs/fit.h"

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "onnx/onnx.h"

namespace lathe::cli {
namespace {

struct FitArgs {
  FitJobOptions job;
  std::string normalize = "none", file;
  bool json = false;
};

void print_found(const FitResult& found, const FitArgs& options) {
  fmt::print("{:<40}{:>12}{:>12}\n", "share of the output that is lost", "as sliced", "fitted");
  for (const LayerFit& layer : found.fit.layers) {
    fmt::print("{:<40}{:>12.3f}{:>12.3f}\n", layer.layer, layer.before, layer.unexplained);
  }
  for (const std::string& layer : found.fit.unfitted) {
    fmt::print("{:<40}{:>24}\n", layer, "as it was sliced");
  }
  if (found.original) {
    fmt::print("\ntop-1   original {:.2f} % · sliced {:.2f} % · fitted {:.2f} %, of {} {}\n",
               found.original->top1(), found.sliced->top1(), found.fitted->top1(),
               found.original->samples, "images that validate");
    fmt::print("loss    original {:.4f} · sliced {:.4f} · fitted {:.4f}\n", found.original->loss,
               found.sliced->loss, found.fitted->loss);
  }
  if (!options.file.empty()) fmt::print("written {}\n", options.file);
}

int run_fit(FitArgs& options) {
  options.job.normalize = *normalize_named(options.normalize);
  FitResult found;
  {
    JobBar bar("fitting");
    found = fit_network(options.job, bar.listener());
  }
  if (!options.file.empty()) write_onnx(found.fit.network, options.file);
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump());
  } else {
    print_found(found, options);
  }
  return 0;
}

std::function<int()> set_up_fit(Command& app) {
  auto options = std::make_shared<FitArgs>();
  FitJobOptions& job = options->job;
  add_network_arguments(app, job.network);
  app.add_option("--data", job.data,
                 "labelled images: cifar10:FOLDER, npy:X.npy,Y.npy or synthetic:SEED")
      ->required();
  app.add_option("--normalize", options->normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
  app.add_option("--samples", job.samples, "number of images that weights are fitted to")
      ->check(range(1, 1L << 20));
  app.add_option("--validate", job.validate,
                 "number of other images that accuracies are counted on; 0: they are not")
      ->check(range(0, 1L << 20));
  app.add_option("--ridge", job.ridge,
                 "how much weights are drawn to what they were, relative to what they read")
      ->check(range(0.0, 1e6));
  app.add_option("--threads", job.threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  app.add_option("-o,--output FILE", options->file,
                 "write the network with its new weights (.onnx)")
      ->writes();
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_fit(*options); };
}

}  // namespace

Verb fit() {
  return {"fit", "give a changed network weights from its trained original", set_up_fit,
          "lathe fit model.onnx --apply winner.recipe --data cifar10:DIR -o fitted.onnx"};
}

}  // namespace lathe::cli
