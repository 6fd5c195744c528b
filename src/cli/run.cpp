// run.cpp: "lathe run NETWORK": runs a network on data, images or random numbers.
#include "cli/verb_inputs_outputs.h"
#include "cli/verb_network.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"
#include "data/image.h"
#include "data/npy.h"
#include "jobs/runnable.h"

namespace lathe::cli {
namespace {

struct RunArgs {
  NetworkArguments network;
  std::vector<std::string> inputs, outputs;
  std::string normalize = "none", labels, target = "native";
  int threads = 1;
  TunedArguments tuned;
  PrecisionArguments precision;
  bool json = false;
};

/// An .onnx file is imported with the inputs that are files: they may decide shapes.
std::map<std::string, Array> known_values(const RunArgs& options) {
  std::map<std::string, Array> values;
  if (!is_onnx_file(options.network.network) || is_network_folder(options.network.network))
    return values;
  std::vector<std::string> names;
  for (const auto& input : summarise_onnx(options.network.network).inputs) {
    if (!input.has_default) names.push_back(input.name);
  }
  for (const NamedOption& a : parse_named_options(options.inputs, names, "input")) {
    if (a.what.ends_with(".npy") || a.what.ends_with(".pb")) {
      values.emplace(a.name, read_array(a.what));
    }
  }
  return values;
}

int run_once(const RunArgs& options) {
  std::map<std::string, Array> known = known_values(options);
  Target target = machine_named(options.target);
  RunnableOptions how{options.network,
                      target,
                      options.threads,
                      choices_for(options.tuned, target, options.threads),
                      layouts_for(options.tuned, target, options.threads),
                      options.tuned.max_error};
  LayerPrecisions precisions = precisions_of(options.precision, options.network);
  if (!precisions.are_all(Precision::f32)) {
    CalibrationArguments calibration = options.precision.calibration;
    calibration.normalize = options.normalize;
    how.prepare = [precisions, calibration, &options](const Graph& graph) {
      return with_precisions(graph, precisions, calibration, options.threads);
    };
  }
  Runnable network = make_runnable(how, known);
  std::vector<Array> inputs =
      gather_inputs(network.inputs, options.inputs, options.normalize, known, network.below);
  std::vector<std::string> names = names_of(network.outputs);
  std::vector<NamedOption> files = parse_named_options(options.outputs, names, "output");
  std::vector<std::string> labels = read_labels(options.labels);
  check_labels(options.labels, labels, classes_of(network.outputs));

  std::vector<Array> outputs;
  {
    ProgressBar bar("running");
    outputs = network.run(inputs, [&](size_t n, size_t all) { bar.show(n, all); });
  }
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedOption& file : files) {
      if (file.name == names[i]) write_npy(file.what, outputs[i]);
    }
    if (options.json) {
      json.push_back(to_json(names[i], outputs[i]));
    } else {
      print_output(names[i], outputs[i], labels);
    }
  }
  if (options.json) fmt::print("{}\n", json.dump());
  return 0;
}

std::function<int()> set_up_run(Command& app) {
  auto options = std::make_shared<RunArgs>();
  add_network_arguments(app, options->network);
  app.option("NETWORK")->description(
      "a built-in network ('lathe list models'), an .onnx file, a .graph file, a bundle, or a "
      "folder that 'lathe compile' wrote");
  app.add_option("--input [NAME=]FILE", options->inputs,
                 "read an input from a .npy, .pb, .png or .jpg file; [NAME=]random:SEED draws it");
  app.add_option("--output [NAME=]FILE", options->outputs, "write an output to a .npy file")
      ->writes();
  app.add_option("--normalize", options->normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  app.add_option("--labels FILE", options->labels, "read the names of classes, one in each line");
  app.add_option("--threads", options->threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  add_target_argument(app, options->target, "the machine of this computer that runs it");
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_option("--seed", options->network.seed, "seed of the weights, where they are random");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_once(*options); };
}

}  // namespace

Verb run() {
  return {"run", "run a network on files, images or random numbers", set_up_run,
          "lathe run model.onnx --input photo.png --normalize imagenet --labels names.txt"};
}

}  // namespace lathe::cli
