// run.cpp: "lathe run NETWORK": runs a network on data, images or random numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "cli/verb_nest.h"
#include "cli/verb_network.h"
#include "data/dataset.h"
#include "data/image.h"
#include "data/npy.h"
#include "compile/executor.h"

namespace lathe::cli {
namespace {

struct Options {
  NetworkArguments network;
  std::vector<std::string> inputs, outputs;
  std::string normalize = "none", labels, data;
  long limit = 0;
  bool json = false;
};

/// NAME=WHAT, or WHAT for the next one.
struct Assignment {
  std::string name, what;
};

Assignment parse_assignment(const std::string& text) {
  size_t at = text.find('=');
  return at == std::string::npos ? Assignment{"", text}
                                 : Assignment{text.substr(0, at), text.substr(at + 1)};
}

bool is_image(const std::string& path) {
  for (const char* ending : {".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

std::optional<uint64_t> random_seed(const std::string& what) {
  if (!what.starts_with("random")) return std::nullopt;
  if (what == "random") return 0;
  uint64_t seed = 0;
  const char* begin = what.data() + 7;
  auto [end, error] = std::from_chars(begin, what.data() + what.size(), seed);
  if (what[6] != ':' || error != std::errc() || end != what.data() + what.size()) {
    fail("--input {}: write it as random:SEED, as in random:1", what);
  }
  return seed;
}

/// Draws from the normal distribution; integers from 0 and 1, which any index can be.
Array random_array(const Type& type, uint64_t seed, const std::string& name) {
  Random random(seed, name);
  std::vector<double> values(static_cast<size_t>(count_of(type.shape)));
  for (double& x : values) {
    x = is_float(type.element) ? random.normal() : static_cast<double>(random.below(2));
  }
  return Array::of_reals(type.element, type.shape, values);
}

Array read_array(const std::string& path) {
  if (path.ends_with(".npy")) return read_npy(path);
  if (path.ends_with(".pb")) return read_tensor(path);
  fail("--input {}: give an .npy or .pb file, an image (.png, .jpg), or random:SEED", path);
}

Array image_input(const std::string& path, const Value& value, const Options& options) {
  const Shape& shape = value.type.shape;
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 3 || value.type.element != Element::f32) {
    fail("input '{}' is {}: an image is f32[1x3xROWSxCOLUMNS]", value.name, print_type(value.type));
  }
  return as_input(read_image(path), shape[2], shape[3], *normalize_named(options.normalize));
}

/// Gives every assignment without a name the next name that is left.
void give_names(std::vector<Assignment>& list, const std::vector<std::string>& names,
                const char* what) {
  for (const Assignment& a : list) {
    if (!a.name.empty() && std::find(names.begin(), names.end(), a.name) == names.end()) {
      fail("there is no {} '{}'; there are: {}", what, a.name, fmt::join(names, ", "));
    }
  }
  for (Assignment& a : list) {
    for (size_t i = 0; a.name.empty() && i < names.size(); ++i) {
      bool taken = std::any_of(list.begin(), list.end(),
                               [&](const Assignment& other) { return other.name == names[i]; });
      if (!taken) a.name = names[i];
    }
    if (a.name.empty()) fail("--{} {}: the network has no more {}s", what, a.what, what);
  }
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (ValueId id : ids) names.push_back(graph.values[id].name);
  return names;
}

/// An .onnx file is imported with the inputs that are files: they may decide shapes.
std::map<std::string, Array> known_values(const Options& options) {
  std::map<std::string, Array> values;
  if (!is_onnx_file(options.network.network)) return values;
  std::vector<std::string> names;
  for (const auto& input : summarise_onnx(options.network.network).inputs) {
    if (!input.has_default) names.push_back(input.name);
  }
  std::vector<Assignment> list;
  for (const std::string& text : options.inputs) list.push_back(parse_assignment(text));
  give_names(list, names, "input");
  for (const Assignment& a : list) {
    if (a.what.ends_with(".npy") || a.what.ends_with(".pb")) {
      values.emplace(a.name, read_array(a.what));
    }
  }
  return values;
}

std::vector<Array> gather_inputs(const Graph& graph, const Options& options,
                                 const std::map<std::string, Array>& known) {
  std::vector<Assignment> list;
  for (const std::string& text : options.inputs) list.push_back(parse_assignment(text));
  give_names(list, names_of(graph, graph.inputs), "input");
  std::vector<Array> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    auto given = std::find_if(list.begin(), list.end(),
                              [&](const Assignment& a) { return a.name == value.name; });
    if (auto found = known.find(value.name); found != known.end()) {
      inputs.push_back(found->second);
    } else if (given == list.end()) {
      fail("input '{}' ({}) is missing; give --input {}=FILE.npy or --input {}=random:1",
           value.name, print_type(value.type), value.name, value.name);
    } else if (auto seed = random_seed(given->what)) {
      inputs.push_back(random_array(value.type, *seed, value.name));
    } else if (is_image(given->what)) {
      inputs.push_back(image_input(given->what, value, options));
    } else {
      inputs.push_back(read_array(given->what));
    }
  }
  return inputs;
}

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  std::ifstream file(path);
  if (!file) fail("cannot read the labels '{}'", path);
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  return labels;
}

/// Is the output a score for each class of one sample?
bool is_classes(const Array& output) {
  return is_float(output.element()) && output.count() >= 10 && !output.shape().empty() &&
         output.shape().back() == output.count();
}

std::vector<size_t> largest(const std::vector<double>& values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<long>(count), order.end(),
      [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(count);
  return order;
}

void print_output(const std::string& name, const Array& output,
                  const std::vector<std::string>& labels) {
  fmt::print("{}: {}", name, print_type({output.element(), output.shape()}));
  if (output.count() == 0 || output.element() == Element::string) {
    fmt::print("\n");
    return;
  }
  std::vector<double> values = output.reals();
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  fmt::print("  from {:.6g} to {:.6g}, mean {:.6g}\n", *low, *high, mean);
  if (!is_classes(output)) return;
  for (size_t i : largest(values, 5)) {
    fmt::print("  {:>6}  {:>12.6g}{}\n", i, values[i],
               i < labels.size() ? "  " + labels[i] : std::string());
  }
}

nlohmann::json to_json(const std::string& name, const Array& output) {
  nlohmann::json json{{"name", name}, {"type", print_type({output.element(), output.shape()})}};
  if (output.element() == Element::string) {
    json["values"] = output.strings();
  } else if (is_integral(output.element())) {
    json["values"] = output.integers();
  } else {
    json["values"] = output.reals();
  }
  return json;
}

int run_once(const Options& options) {
  std::map<std::string, Array> known = known_values(options);
  Graph graph = initialised(load_network(options.network, known), options.network.seed);
  std::vector<Array> inputs = gather_inputs(graph, options, known);
  std::vector<Assignment> files;
  for (const std::string& text : options.outputs) files.push_back(parse_assignment(text));
  std::vector<std::string> names = names_of(graph, graph.outputs);
  give_names(files, names, "output");
  std::vector<std::string> labels = read_labels(options.labels);

  std::vector<Array> outputs;
  {
    ProgressBar bar("running");
    outputs = Executor(graph).run(inputs, [&](size_t n, size_t all) { bar.show(n, all); });
  }
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const Assignment& file : files) {
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

/// Runs the network on labelled images and counts how often it is right.
int run_dataset(const Options& options) {
  Dataset data = load_dataset(options.data, Split::test, *normalize_named(options.normalize));
  Graph graph = initialised(load_network(options.network), options.network.seed);
  const Type& type = graph.values[graph.inputs.front()].type;
  Shape image(type.shape.begin() + (type.shape.empty() ? 0 : 1), type.shape.end());
  if (graph.inputs.size() != 1 || image != data.shape) {
    fail("'{}' has images of the shape {}, but the network's input is {}", options.data,
         print_shape(data.shape), print_type(type));
  }
  long batch = type.shape[0],
       count = options.limit > 0 ? std::min(options.limit, data.count) : data.count;
  count -= count % batch;
  Executor executor(graph);
  long right = 0;
  {
    ProgressBar bar("running");
    for (long first = 0; first < count; first += batch) {
      std::vector<double> scores = executor.run({data.images(first, batch)}).front().reals();
      std::vector<long> labels = data.labels(first, batch);
      long classes = static_cast<long>(scores.size()) / batch;
      for (long i = 0; i < batch; ++i) {
        auto row = scores.begin() + i * classes;
        long guess = std::max_element(row, row + classes) - row;
        right += guess == labels[static_cast<size_t>(i)] ? 1 : 0;
      }
      bar.show(static_cast<size_t>(first + batch), static_cast<size_t>(count));
    }
  }
  if (count == 0) fail("there are fewer images than the {} of a batch", batch);
  double percent = 100 * static_cast<double>(right) / static_cast<double>(count);
  if (options.json) {
    nlohmann::json json{{"images", count}, {"right", right}, {"top1", percent}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("top-1 {:.2f} %: {} of {} images of {}\n", percent, right, count, data.name);
  }
  return 0;
}

int run(const Options& options) {
  if (!normalize_named(options.normalize)) {
    fail("--normalize {}: there are none, imagenet and cifar", options.normalize);
  }
  return options.data.empty() ? run_once(options) : run_dataset(options);
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_network_arguments(app, options->network);
  app.add_option("--input", options->inputs,
                 "[NAME=]FILE (.npy, .pb, .png, .jpg) or [NAME=]random:SEED; once for each input");
  app.add_option("--output", options->outputs, "[NAME=]FILE.npy to write an output to");
  app.add_option("--normalize", options->normalize, "of images: none, imagenet or cifar");
  app.add_option("--labels", options->labels, "file with the name of a class on each line");
  app.add_option("--data", options->data,
                 "count right answers on cifar10:DIR, synthetic:SEED or npy:X,Y");
  app.add_option("--limit", options->limit, "use so many images of the data; 0: all")
      ->check(CLI::Range(0L, 1L << 40));
  app.add_option("--seed", options->network.seed, "of weights that nobody trained");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run(*options); };
}

}  // namespace

Verb run() { return {"run", "run a network on files, images or random numbers", prepare}; }

}  // namespace lathe::cli
