// families.cpp: is every operator that neural steps make as fast as the work that is left?
//
//   bench_families                              all families on the layers of ResNet-34
//   bench_families --layers 256@8 --families shuffled --seconds 1 --json
//
// A layer stands between two others, with a batch norm, a residual sum and a ReLU behind it, as it
// does in ResNet-34; its time is that of all nodes between the others, copies included. It is
// compared with the ordinary convolutions that do the same work, in networks of the same kind:
// reading half of the channels with a convolution from half as many, parts with the sum of their
// convolutions. Both run in turn, on one thread.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compile/units.h"
#include "ops/op_graph.h"
#include "search/network_times.h"
#include "transforms/transform_network.h"

namespace {

using namespace lathe;

/// A convolution of images, and what it reads: "rows" by "columns" outputs before its stride.
struct Size {
  long filters, channels, rows, columns, groups = 1, stride = 1, kernel = 3;
};

/// One family: how a layer becomes one of it, and the ordinary convolutions that do the same work.
struct Family {
  std::string name, recipe;
  std::vector<Size> same_work;
};

/// Adds a convolution, its normalisation, perhaps a sum, and a ReLU.
ValueId add_layer(GraphBuilder& g, ValueId x, const Size& size, const std::string& name,
                  std::optional<ValueId> residual = std::nullopt) {
  Shape shape{size.filters, size.channels / size.groups, size.kernel, size.kernel};
  ValueId w = g.weight(name + ".weight", shape, he_fan_out(shape, size.groups));
  long pad = size.kernel / 2;
  ValueId y = g.call("conv", {x, w},
                     {{"pads", Shape{pad, pad, pad, pad}},
                      {"strides", Shape{size.stride, size.stride}},
                      {"groups", size.groups}},
                     name);
  auto of_channel = [&](const char* what, Initial::Kind initial, Value::Kind kind) {
    return g.weight(name + what, {size.filters}, Initial{initial}, kind);
  };
  y = g.call("batch_norm",
             {y, of_channel(".scale", Initial::Kind::ones, Value::Kind::weight),
              of_channel(".shift", Initial::Kind::zeros, Value::Kind::weight),
              of_channel(".mean", Initial::Kind::zeros, Value::Kind::state),
              of_channel(".variance", Initial::Kind::ones, Value::Kind::state)},
             {}, name + ".norm");
  if (residual) y = g.call("add", {y, *residual}, {}, name + ".sum");
  return g.call("relu", {y}, {}, name + ".relu");
}

/// Channels at the ends of a network: few, as only the layer between them is timed.
constexpr long end_channels = 16;

/// Returns the network around a layer.
Graph network_of(const Size& size) {
  GraphBuilder g("layer");
  long rows = size.rows / size.stride, columns = size.columns / size.stride;
  Type from{Element::f32, {1, end_channels, size.rows, size.columns}};
  Type beside{Element::f32, {1, end_channels, rows, columns}};
  ValueId x = add_layer(g, g.input("x", from), {size.channels, end_channels, 0, 0}, "before");
  ValueId r =
      add_layer(g, g.input("r", beside), {size.filters, end_channels, 0, 0, 1, 1, 1}, "beside");
  // Something else reads the residual, too: what makes it cannot take over the sum.
  g.output(add_layer(g, r, {end_channels, size.filters, 0, 0, 1, 1, 1}, "beside.end"));
  ValueId y = add_layer(g, x, size, "layer", r);
  g.output(add_layer(g, y, {end_channels, size.filters, 0, 0}, "after"));
  return g.build();
}

std::vector<Family> families_for(long c, long h) {
  auto dense = [&](long filters, long channels) { return Size{filters, channels, h, h}; };
  auto grouped = [&](long groups) { return Size{c, c, h, h, groups}; };
  std::vector<Family> all{{"dense", "", {dense(c, c)}}};
  for (long g : {2, 4, 8, 16}) {
    all.push_back({fmt::format("grouped x{}", g), fmt::format("group({})", g), {grouped(g)}});
  }
  for (long g : {2, 4, 8, 16}) {
    all.push_back({fmt::format("shuffled x{}", g),
                   fmt::format("split(ci, {0}) -> interchange(ci.o, ci.i) -> group({0})", g),
                   {grouped(g)}});
  }
  for (long b : {2, 4}) {
    all.push_back({fmt::format("reads 1/{}", b),
                   fmt::format("interchange(co, ci) -> bottleneck({})", b),
                   {dense(c, c / b)}});
  }
  for (long b : {2, 4}) {
    all.push_back({fmt::format("repeated x{}", b),
                   fmt::format("bottleneck({}, repeat)", b),
                   {dense(c / b, c)}});
  }
  all.push_back(
      {"expanded x2", "bottleneck(2, expand)", {dense(c / 2, c), {c, c / 2, h, h, 1, 1, 1}}});
  if (h % 2 == 0) {
    std::string rows = "interchange(co, oh) -> bottleneck(2, repeat)";
    all.push_back({"every 2nd pixel",
                   rows + " -> interchange(oh, ow) -> bottleneck(2, repeat)",
                   {{c, c, h, h, 1, 2}}});
    all.push_back({"stripes x2",
                   "interchange(co, oh) -> group(2)",
                   {{c, c / 2, h / 2, h}, {c, c / 2, h / 2, h}}});
  }
  all.push_back({"16 dense, rest x2",
                 "unroll(co, 16) -> group(2) -> interchange(co.1, ci)",
                 {dense(16, c), {c - 16, c, h, h, 2}}});
  all.push_back({"halves x2, x4",
                 "split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)",
                 {{c / 2, c, h, h, 2}, {c / 2, c, h, h, 4}}});
  all.push_back({"depthwise", fmt::format("group({})", c), {grouped(c)}});
  return all;
}

/// Is the node at an end of the network?
bool is_end(const std::string& node) {
  auto begins = [&](const char* text) { return node.rfind(text, 0) == 0; };
  bool copy = node == "x.stored" || node == "r.stored";
  return copy || begins("before") || begins("beside") || begins("after");
}

/// A network that is timed.
struct Timed {
  Compiled compiled;
  std::unique_ptr<TimedNetwork> running;

  double layer() const {
    double sum = 0;
    std::vector<NodeTime> times = running->node_times();
    for (size_t i = 0; i < times.size(); ++i) {
      if (compiled.nodes[i].steps > 0 && !is_end(times[i].node)) sum += times[i].seconds;
    }
    return sum;
  }

  std::vector<std::string> schedules() const {
    std::vector<std::string> result;
    for (const CompiledNode& node : compiled.nodes) {
      if (node.steps == 0 || is_end(node.name)) continue;
      result.push_back(node.flops > 0 ? node.schedule : "copy");
    }
    return result;
  }
};

CompileOptions options_for_all() {
  CompileOptions options;
  options.target = native_target();
  options.made = std::make_shared<MadeUnits>();
  return options;
}

Timed timed(const Graph& network, const CompileOptions& options) {
  Timed result{compile(initialised(network, 1), options), nullptr};
  return result;
}

struct Row {
  std::string layer, family, recipe;
  double seconds = 0, same_work = 0;
  std::vector<std::string> schedules, others;
  std::string failure;
};

Row measured(const std::string& layer, const Size& size, const Family& family,
             const CompileOptions& options, double seconds) {
  Row row{layer, family.name, family.recipe, 0, 0, {}, {}, ""};
  try {
    std::vector<Timed> all;
    Graph network = network_of(size);
    if (!family.recipe.empty()) {
      network = transformed(network, parse_network_recipe("layer: " + family.recipe));
    }
    all.push_back(timed(network, options));
    for (const Size& same : family.same_work) all.push_back(timed(network_of(same), options));
    for (Timed& each : all) each.running = std::make_unique<TimedNetwork>(each.compiled, 1);
    for (Timed& each : all) each.running->run();
    using Clock = std::chrono::steady_clock;
    auto begin = Clock::now();
    for (int round = 0; round < 5 || Clock::now() - begin < std::chrono::duration<double>(seconds);
         ++round) {
      for (Timed& each : all) each.running->run_nodes();
    }
    row.seconds = all.front().layer();
    row.schedules = all.front().schedules();
    for (size_t i = 1; i < all.size(); ++i) {
      row.same_work += all[i].layer();
      for (std::string& name : all[i].schedules()) row.others.push_back(name);
    }
  } catch (const UserError& error) {
    row.failure = error.what();
  }
  return row;
}

constexpr double allowed = 1.15;

void print_head() {
  fmt::print("{:<18} {:>8} {:>10} {:>6}  {}\n", "family", "ms", "same work", "ratio",
             "how; of the same work");
}

void print_row(const Row& row) {
  if (!row.failure.empty()) return fmt::print("{:<18} failed: {}\n", row.family, row.failure);
  double ratio = row.seconds / row.same_work;
  std::string how =
      fmt::format("{}; {}", fmt::join(row.schedules, " "), fmt::join(row.others, " "));
  if (how.size() > 33) how = how.substr(0, 30) + "...";
  fmt::print("{:<18} {:>8.4f} {:>10.4f} {:>5.2f}{}  {}\n", row.family, row.seconds * 1e3,
             row.same_work * 1e3, ratio, ratio > allowed ? "!" : " ", how);
  std::fflush(stdout);
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json json{{"layer", row.layer}, {"family", row.family}, {"recipe", row.recipe}};
  if (!row.failure.empty()) {
    json["failure"] = row.failure;
    return json;
  }
  json["ms"] = row.seconds * 1e3;
  json["same_work_ms"] = row.same_work * 1e3;
  json["ratio"] = row.seconds / row.same_work;
  json["schedules"] = row.schedules;
  json["schedules_of_same_work"] = row.others;
  return json;
}

struct FamilyArgs {
  std::string layers, families;
  double seconds = 0.3;
  bool json = false;
};

FamilyArgs parsed(int count, char** texts) {
  FamilyArgs args;
  for (int i = 1; i < count; ++i) {
    std::string name = texts[i];
    auto value = [&] {
      if (i + 1 == count) fail("{} needs a value", name);
      return std::string(texts[++i]);
    };
    if (name == "--layers")
      args.layers = value();
    else if (name == "--families")
      args.families = value();
    else if (name == "--seconds")
      args.seconds = std::stod(value());
    else if (name == "--json")
      args.json = true;
    else
      fail("no option {}; there are --layers, --families, --seconds and --json", name);
  }
  return args;
}

/// Does one of the words of a list, divided by commas, begin the text? An empty list has all.
bool is_wanted(const std::string& list, const std::string& text) {
  if (list.empty()) return true;
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    if (text.rfind(list.substr(at, end - at), 0) == 0) return true;
    at = end + 1;
  }
  return false;
}

void run(const FamilyArgs& args) {
  pin(1);
  CompileOptions options = options_for_all();
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::pair<long, long>> layers{{64, 32}, {128, 16}, {256, 8},  {512, 4},
                                                  {64, 56}, {128, 28}, {256, 14}, {512, 7}};
  size_t held = 0, all = 0;
  for (auto [channels, rows_of] : layers) {
    std::string layer = fmt::format("{}@{}", channels, rows_of);
    if (!is_wanted(args.layers, layer)) continue;
    if (!args.json) fmt::print("\n{} channels, {}x{}, 3x3\n", channels, rows_of, rows_of);
    if (!args.json) print_head();
    for (const Family& family : families_for(channels, rows_of)) {
      if (!is_wanted(args.families, family.name)) continue;
      Row row =
          measured(layer, {channels, channels, rows_of, rows_of}, family, options, args.seconds);
      ++all;
      held += row.failure.empty() && row.seconds <= allowed * row.same_work ? 1 : 0;
      if (args.json)
        rows.push_back(to_json(row));
      else
        print_row(row);
    }
  }
  if (args.json) return fmt::print("{}\n", rows.dump(1));
  fmt::print("\n{} of {} take at most {} times as long as the ordinary convolution\n", held, all,
             allowed);
}

}  // namespace

int main(int count, char** texts) {
  try {
    run(parsed(count, texts));
    return 0;
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
