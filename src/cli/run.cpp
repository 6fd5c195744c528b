// run.cpp: "lathe run NETWORK": runs a network on data, images or random numbers.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cli/verb_inputs_outputs.h"
#include "cli/verb_network.h"
#include "cli/verb_tuned.h"
#include "compile/executor.h"
#include "compile/library.h"
#include "data/dataset.h"
#include "data/image.h"
#include "data/npy.h"
#include "program/random_inputs.h"

namespace lathe::cli {
namespace {

struct RunArgs {
  NetworkArguments network;
  std::vector<std::string> inputs, outputs;
  std::string normalize = "none", labels, data;
  long limit = 0;
  int threads = 1;
  TunedArguments tuned;
  bool json = false;
};

using Progress = std::function<void(size_t, size_t)>;

/// A network that is ready to run, wherever it came from.
struct Runnable {
  std::vector<CompiledFace> inputs, outputs;
  std::function<std::vector<Array>(const std::vector<Array>&, const Progress&)> run;
  std::map<std::string, long> below = {};  ///< of whole inputs, where the graph says it
};

/// Is the network a folder? One that is no library does not hide a built-in network of its name.
bool is_folder(const std::string& network) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(network, ignored)) return false;
  std::vector<ModelEntry> models = list_models();
  return is_library(network) ||
         std::none_of(models.begin(), models.end(),
                      [&](const ModelEntry& model) { return model.name == network; });
}

/// A network that was compiled before.
Runnable runnable_library(const RunArgs& options) {
  const NetworkArguments& network = options.network;
  if (!is_library(network.network)) {
    fail("the folder '{}' has no manifest.json: 'lathe compile' writes folders that can be run",
         network.network);
  }
  const ModelOptions& model = network.model;
  if (!network.shapes.empty() || !network.recipes.empty() || network.seed != 0 ||
      model.batch != 1 || model.classes || model.size) {
    fail(
        "'{}' is compiled: --shape, --apply, --batch, --classes, --size and --seed are for "
        "'lathe compile'",
        network.network);
  }
  auto library = std::make_shared<LoadedLibrary>(network.network, options.threads);
  return {library->inputs(), library->outputs(),
          [library](const std::vector<Array>& inputs, const Progress&) {
            return library->run(inputs);
          }};
}

/// A graph, compiled as it runs. Values of inputs may be known before.
Runnable runnable(const RunArgs& options, const std::map<std::string, Array>& known) {
  if (is_folder(options.network.network)) return runnable_library(options);
  Graph graph = initialised(load_network(options.network, known), options.network.seed);
  auto faces_of = [&](const std::vector<ValueId>& ids) {
    std::vector<CompiledFace> faces;
    for (ValueId id : ids) faces.push_back({graph.values[id].name, graph.values[id].type});
    return faces;
  };
  std::map<std::string, long> below;
  for (ValueId id : graph.inputs) below[graph.values[id].name] = below_of(graph, id);
  ExecutorOptions how;
  how.threads = options.threads;
  how.choose = choices_for(options.tuned, native_target(), options.threads);
  how.layouts = layouts_for(options.tuned, native_target(), options.threads);
  how.max_error = options.tuned.max_error;
  auto executor = std::make_shared<Executor>(graph, how);
  return {faces_of(graph.inputs), faces_of(graph.outputs),
          [executor](const std::vector<Array>& inputs, const Progress& progress) {
            return executor->run(inputs, progress);
          },
          below};
}

/// An .onnx file is imported with the inputs that are files: they may decide shapes.
std::map<std::string, Array> known_values(const RunArgs& options) {
  std::map<std::string, Array> values;
  if (!is_onnx_file(options.network.network) || is_folder(options.network.network)) return values;
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
  Runnable network = runnable(options, known);
  std::vector<Array> inputs =
      gather_inputs(network.inputs, options.inputs, options.normalize, known, network.below);
  std::vector<std::string> names = names_of(network.outputs);
  std::vector<NamedOption> files = parse_named_options(options.outputs, names, "output");
  std::vector<std::string> labels = read_labels(options.labels, network.outputs);

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

/// How often a network was right.
struct Answers {
  long images = 0, right = 0;
  long none = 0;  ///< images without an answer: a score is no number

  /// Counts the answers for a batch.
  void add(const std::vector<double>& scores, const std::vector<long>& labels) {
    size_t classes = scores.size() / labels.size();
    for (size_t i = 0; i < labels.size(); ++i, ++images) {
      std::optional<long> answer = best_class(std::span(scores).subspan(i * classes, classes));
      right += answer == labels[i] ? 1 : 0;
      none += answer ? 0 : 1;
    }
  }
};

void print_answers(const Answers& answers, const RunArgs& options, const std::string& data) {
  double percent = 100 * static_cast<double>(answers.right) / static_cast<double>(answers.images);
  if (options.json) {
    nlohmann::json all{{"images", answers.images},
                       {"right", answers.right},
                       {"without_answer", answers.none},
                       {"top1", percent}};
    fmt::print("{}\n", all.dump());
    return;
  }
  fmt::print("top-1 {:.2f} %: {} of {} images of {}\n", percent, answers.right, answers.images,
             data);
  if (answers.none > 0) {
    fmt::print("for {} of them the outputs are NaN: they have no answer\n", answers.none);
  }
}

/// Returns the shape of one image that a network reads.
Shape image_of(const Type& type) {
  return {type.shape.begin() + (type.shape.empty() ? 0 : 1), type.shape.end()};
}

/// Loads the images to run a network on: generated ones have its shape and its classes.
Dataset load_images(const RunArgs& options, const Runnable& network) {
  Dataset data = load_dataset(options.data, Split::test, *normalize_named(options.normalize));
  if (network.inputs.empty()) fail("the network has no input");
  const Shape& said = network.outputs.front().type.shape;
  if (said.size() != 2) return data;
  return data.fitted({{InputForm{image_of(network.inputs.front().type)}}, said[1]});
}

/// Fails unless the network takes the images of a dataset, and knows all of its classes.
void check_fits(const Runnable& network, const Dataset& data, const std::string& name) {
  const Type& type = network.inputs.front().type;
  Shape image = image_of(type);
  if (network.inputs.size() != 1 || image != data.shape) {
    fail("'{}' has images of the shape {}, but the network's input is {}", name,
         print_shape(data.shape), print_type(type));
  }
  long batch = type.shape[0], scores = count_of(network.outputs.front().type.shape);
  if (batch == 0 || data.classes > scores / batch) {
    fail("'{}' has labels from 0 to {}, but the network has {} classes", name, data.classes - 1,
         batch == 0 ? 0 : scores / batch);
  }
}

/// Runs the network on labelled images and counts how often it is right.
int run_dataset(const RunArgs& options) {
  Runnable network = runnable(options, {});
  Dataset data = load_images(options, network);
  check_fits(network, data, options.data);
  long batch = network.inputs.front().type.shape[0],
       count = options.limit > 0 ? std::min(options.limit, data.count) : data.count;
  count -= count % batch;
  if (count == 0) fail("there are fewer images than the {} of a batch", batch);
  Answers answers;
  {
    ProgressBar bar("running");
    for (long first = 0; first < count; first += batch) {
      std::vector<double> scores =
          network.run({data.images(first, batch)}, nullptr).front().reals();
      answers.add(scores, data.labels(first, batch));
      bar.show(static_cast<size_t>(first + batch), static_cast<size_t>(count));
    }
  }
  print_answers(answers, options, data.name);
  return 0;
}

int run_given(const RunArgs& options) {
  return options.data.empty() ? run_once(options) : run_dataset(options);
}

std::function<int()> set_up_run(Command& app) {
  auto options = std::make_shared<RunArgs>();
  add_network_arguments(app, options->network);
  app.option("NETWORK")->description(
      "a built-in network ('lathe list models'), an .onnx file, a .graph file, or a folder that "
      "'lathe compile' wrote");
  app.add_option("--input [NAME=]FILE", options->inputs,
                 "read an input from a .npy, .pb, .png or .jpg file; [NAME=]random:SEED draws it");
  app.add_option("--output [NAME=]FILE", options->outputs, "write an output to a .npy file")
      ->writes();
  app.add_option("--normalize", options->normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
  app.add_option("--labels FILE", options->labels, "read the names of classes, one in each line");
  app.add_option("--data", options->data,
                 "count right answers on cifar10:FOLDER, npy:X.npy,Y.npy or synthetic:SEED");
  app.add_option("--limit", options->limit, "use so many samples of the data; 0 means all")
      ->check(range(0, 1L << 40));
  app.add_option("--threads", options->threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_option("--seed", options->network.seed, "seed of the weights, where they are random");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_given(*options); };
}

}  // namespace

Verb run() {
  return {"run", "run a network on files, images or random numbers", set_up_run,
          "lathe run model.onnx --input photo.png --normalize imagenet --labels names.txt"};
}

}  // namespace lathe::cli
