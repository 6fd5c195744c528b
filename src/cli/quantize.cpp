// quantize.cpp: "lathe quantize NETWORK --data IMAGES": makes layers read 8-bit integers, and says
// what that costs.
#include "jobs/quantize.h"

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_precision.h"
#include "onnx/onnx.h"

namespace lathe::cli {
namespace {

struct QuantizeArgs {
  QuantizeOptions job;
  CalibrationArguments calibration;
  std::string file;
  bool json = false;
};

/// A name that does not fit its column keeps its end, which tells layers apart.
std::string fitted_name(const std::string& name, size_t width) {
  return name.size() <= width ? name : ".." + name.substr(name.size() - width + 2);
}

void print_layers(const std::vector<QuantisedLayer>& layers) {
  fmt::print("{:<33}{:>18}{:>11}{:>6}{:>10}\n", "layer", "reads", "scale", "zero", "error");
  for (const QuantisedLayer& layer : layers) {
    std::string name = fitted_name(layer.layer, 32);
    if (!layer.kept.empty()) {
      fmt::print("{:<33}stays f32: {}\n", name, layer.kept);
      continue;
    }
    std::string error = layer.error ? fmt::format("{:.2f} %", 100 * *layer.error) : "-";
    fmt::print("{:<33}{:>18}{:>11.3g}{:>6}{:>10}\n", name,
               fmt::format("{:.3g} to {:.3g}", layer.least, layer.greatest), layer.data.scale,
               layer.data.zero, error);
  }
}

void print_found(const QuantizeResult& found, const QuantizeArgs& options) {
  print_layers(found.found.layers);
  if (found.before) {
    fmt::print("\ntop-1   f32 {:.2f} % · int8 {:.2f} %, of {} images of {}\n", found.before->top1(),
               found.after->top1(), found.after->samples, found.after->data);
    fmt::print("loss    f32 {:.4f} · int8 {:.4f}\n", found.before->loss, found.after->loss);
  }
  if (!options.file.empty()) fmt::print("written {}\n", options.file);
}

int run_quantize(QuantizeArgs& options) {
  options.job.calibration = source_of(options.calibration);
  QuantizeResult found;
  {
    JobBar bar("quantizing");
    found = quantize_network(options.job, bar.listener());
  }
  if (!options.file.empty()) write_onnx(found.found.network, options.file);
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump());
  } else {
    print_found(found, options);
  }
  return 0;
}

std::function<int()> set_up_quantize(Command& app) {
  auto options = std::make_shared<QuantizeArgs>();
  QuantizeOptions& job = options->job;
  add_network_arguments(app, job.network);
  add_data_argument(app, options->calibration);
  app.option("--data")->required();
  add_normalize_argument(app, options->calibration);
  add_clipping_arguments(app, options->calibration);
  app.add_option("--limit", job.limit, "count answers for so many test images; 0 means all")
      ->check(range(0, 1L << 40));
  app.add_option("--threads", job.threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  app.add_option("-o,--output FILE", options->file,
                 "write the network with its integers (.onnx): QuantizeLinear and DequantizeLinear "
                 "say what stands for what")
      ->writes();
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_quantize(*options); };
}

}  // namespace

Verb quantize() {
  return {"quantize", "make layers read 8-bit integers, and say what that costs", set_up_quantize,
          "lathe quantize model.onnx --data cifar10:DIR --normalize imagenet -o int8.onnx"};
}

}  // namespace lathe::cli
