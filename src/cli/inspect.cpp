// inspect.cpp: "lathe inspect NETWORK": its layers, shapes, MACs and weights, and what repeats.
#include <algorithm>

#include "base/error.h"
#include "cli/verb_nest.h"
#include "cli/verb_network.h"
#include "jobs/describe.h"
#include "program/channels.h"
#include "program/layers.h"

namespace lathe::cli {
namespace {

struct InspectArgs {
  NetworkArguments network;
  bool layers = false, channels = false, json = false;
};

/// The layers that do the same work, in the order of the first.
struct Workload {
  const Layer* first;
  const Layer* last;
  size_t times = 0;
  long macs = 0, weights = 0;
};

bool is_heavy(const Layer& layer) { return layer.cost.macs > 0; }

std::vector<Workload> workloads(const std::vector<Layer>& layers) {
  std::vector<Workload> result;
  for (const Layer& layer : layers) {
    if (!is_heavy(layer)) continue;
    auto same = std::find_if(result.begin(), result.end(),
                             [&](const Workload& w) { return w.first->key == layer.key; });
    if (same == result.end()) {
      result.push_back({&layer, &layer});
      same = result.end() - 1;
    }
    same->last = &layer;
    ++same->times;
    same->macs += layer.cost.macs;
    same->weights += layer.weights;
  }
  return result;
}

/// Cuts the middle out of a text that is too long: its ends tell more.
std::string shortened(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  size_t end = (width - 2) * 2 / 3;
  return text.substr(0, width - 2 - end) + ".." + text.substr(text.size() - end);
}

/// Names the first and the last; where that is too long, what they begin with only once.
std::string names_of(const Workload& w, size_t width) {
  const std::string &first = w.first->name, &last = w.last->name;
  if (w.times == 1) return shortened(first, width);
  std::string full = fmt::format("{} .. {}", first, last);
  size_t prefix = 0;
  for (size_t i = 0; i < std::min(first.size(), last.size()) && first[i] == last[i]; ++i) {
    if (first[i] == '.' || first[i] == '/') prefix = i + 1;
  }
  if (full.size() <= width || prefix == 0) return shortened(full, width);
  return shortened(fmt::format("{}{{{} .. {}}}", first.substr(0, prefix), first.substr(prefix),
                               last.substr(prefix)),
                   width);
}

void print_heading(const Graph& graph, const std::vector<Layer>& layers) {
  long macs = 0;
  for (const Layer& layer : layers) macs += layer.cost.macs;
  fmt::print("{}: {} weights, {} MACs, {} nodes\n", graph.name, print_count(weight_count(graph)),
             print_count(macs), graph.nodes.size());
  for (ValueId id : graph.inputs) {
    fmt::print("  input   {:<24} {}\n", graph.values[id].name, print_type(graph.values[id].type));
  }
  for (ValueId id : graph.outputs) {
    fmt::print("  output  {:<24} {}\n", graph.values[id].name, print_type(graph.values[id].type));
  }
}

void print_workloads(const std::vector<Layer>& layers) {
  std::vector<Workload> list = workloads(layers);
  long macs = 0;
  for (const Workload& w : list) macs += w.macs;
  fmt::print("\n{:<36}{:>13}{:>6}{:>9}{:>7}{:>9}\n", "layer", "output", "times", "MACs", "share",
             "weights");
  for (const Workload& w : list) {
    double share = 100 * static_cast<double>(w.macs) / static_cast<double>(std::max(1L, macs));
    fmt::print("{:<36}{:>13}{:>6}{:>9}{:>6.1f}%{:>9}\n", shortened(w.first->description, 35),
               print_shape(w.first->inner_output), w.times, print_short(w.macs), share,
               print_short(w.weights));
    fmt::print("  {}\n", names_of(w, 78));
  }
}

/// Prints what does no products: so many of each operator.
void print_others(const std::vector<Layer>& layers) {
  std::map<std::string, size_t> counts;
  for (const Layer& layer : layers) {
    if (!is_heavy(layer)) ++counts[layer.op];
  }
  std::string text;
  for (const auto& [op, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
  }
  if (!text.empty()) fmt::print("\nbesides: {}\n", wrapped(text, 9, 9));
}

void print_layers(const std::vector<Layer>& layers) {
  fmt::print("\n{:<28} {:<22} {:>11} {:>7} {:>7}\n", "node", "operator", "output", "MACs",
             "weights");
  for (const Layer& layer : layers) {
    std::string line =
        fmt::format("{:<28} {:<22} {:>11} {:>7} {:>7}", shortened(layer.name, 28),
                    shortened(layer.description, 22), print_shape(layer.inner_output),
                    layer.cost.macs > 0 ? print_short(layer.cost.macs) : "",
                    layer.weights > 0 ? print_short(layer.weights) : "");
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

/// Prints which elements there are: "64:96", "0:16,48:64".
std::string stretches_of(std::vector<long> elements) {
  std::sort(elements.begin(), elements.end());
  std::string text;
  for (size_t i = 0; i < elements.size();) {
    size_t end = i + 1;
    while (end < elements.size() && elements[end] == elements[end - 1] + 1) ++end;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", elements[i], elements[end - 1] + 1);
    i = end;
  }
  return text;
}

/// Names the weights of a set whose filters (dimension 0), or whose inputs, are its channels.
std::string weights_of(const Graph& graph, const ChannelSet& set, bool filters) {
  std::string names;
  for (const ChannelRange& m : set.members) {
    const Value& value = graph.values[m.value];
    bool is_matrix = value.kind == Value::Kind::weight && value.type.shape.size() > 1;
    if (!is_matrix || (m.dimension == 0) != filters) continue;
    names += (names.empty() ? "" : " ") + value.name;
    long extent = value.type.shape[m.dimension];
    if (m.count < extent) names += "[" + stretches_of(m.elements) + "]";
  }
  return names;
}

void print_channels(const Graph& graph) {
  fmt::print("\nchannels that change together\n");
  for (const ChannelSet& set : channel_sets(graph)) {
    fmt::print("{} channels{}{}\n", set.channels,
               set.multiple > 1 ? fmt::format(", in multiples of {}", set.multiple) : "",
               set.fixed ? ", fixed by an input or output of the network" : "");
    std::string made = weights_of(graph, set, true), read = weights_of(graph, set, false);
    if (!made.empty()) fmt::print("  filters of {}\n", wrapped(made, 13, 13));
    if (!read.empty()) fmt::print("  inputs of  {}\n", wrapped(read, 13, 13));
  }
}

int run_inspect(const InspectArgs& options) {
  Graph graph = load_network(options.network);
  if (options.json) {
    fmt::print("{}\n", describe(graph).dump(2));
    return 0;
  }
  std::vector<Layer> layers = layers_of(graph);
  print_heading(graph, layers);
  if (options.layers) {
    print_layers(layers);
  } else {
    print_workloads(layers);
    print_others(layers);
  }
  if (options.channels) print_channels(graph);
  return 0;
}

std::function<int()> set_up_inspect(Command& app) {
  auto options = std::make_shared<InspectArgs>();
  add_network_arguments(app, options->network);
  app.add_flag("--layers", options->layers, "list every node");
  app.add_flag("--channels", options->channels, "list the channels that can only change together");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_inspect(*options); };
}

}  // namespace

Verb inspect() {
  return {"inspect", "show a network's layers, shapes and costs", set_up_inspect,
          "lathe inspect resnet18 --layers"};
}

}  // namespace lathe::cli
