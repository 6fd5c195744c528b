// legality_first_order.cpp: one layer re-evaluated. Interface: legality_first_order.h.
#include "legality/legality_first_order.h"

#include "base/error.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

/// A convolution with the normalisation that alone reads it, if one does.
struct Found {
  size_t node;
  std::optional<size_t> norm;
};

std::vector<Found> find_layers(const Graph& graph) {
  std::vector<Found> result;
  auto users = consumers(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].op != "conv") continue;
    Found found{n, std::nullopt};
    const std::vector<size_t>& readers = users[graph.nodes[n].outputs[0]];
    if (readers.size() == 1 && graph.nodes[readers[0]].op == "batch_norm") found.norm = readers[0];
    result.push_back(found);
  }
  return result;
}

/// Returns the layer as a network of its own; its weights have the names that they had.
Graph layer_alone(const Graph& graph, const Found& found) {
  GraphBuilder builder(graph.nodes[found.node].name);
  std::map<ValueId, ValueId> known;
  auto copy = [&](const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (id != no_value && !known.contains(id)) {
        const Value& value = graph.values[id];
        bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state ||
                     value.kind == Value::Kind::constant;
        known[id] = !given ? builder.input(value.name, value.type)
                    : value.data
                        ? builder.weight(value.name, *value.data, value.kind)
                        : builder.weight(value.name, value.type.shape, value.initial, value.kind);
      }
      inputs.push_back(id == no_value ? no_value : known[id]);
    }
    ValueId result = builder.call(node.op, inputs, node.attributes, node.name);
    known[node.outputs[0]] = result;
    return result;
  };
  ValueId result = copy(graph.nodes[found.node]);
  if (found.norm) result = copy(graph.nodes[*found.norm]);
  builder.output(result);
  return builder.build();
}

}  // namespace

FirstOrder::FirstOrder(const Graph& network, const Scorer& scorer, uint64_t seed)
    : how_(scorer.evaluation(seed)), seed_(seed) {
  Batch batch = scorer.batch(seed);
  std::vector<Found> found = find_layers(network);
  // What a layer reads, and the gradient behind its normalisation: with the score, in one run.
  Evaluation evaluation(initialised(network, seed), batch, how_);
  Program& program = evaluation.program();
  const Graph& graph = program.graph().unfinished();
  std::vector<ValueId> outputs;
  for (const Found& layer : found) {
    const Node& last = network.nodes[layer.norm.value_or(layer.node)];
    outputs.push_back(*find_value(graph, network.values[last.outputs[0]].name));
  }
  std::vector<ValueId> gradients = program.loss_gradients(outputs);
  std::vector<size_t> reads, given;
  for (size_t i = 0; i < found.size(); ++i) {
    const Node& node = network.nodes[found[i].node];
    const Graph& now = program.graph().unfinished();
    reads.push_back(program.want(*find_value(now, network.values[node.inputs[0]].name)));
    if (gradients[i] == no_value) fail("the loss does not depend on layer '{}'", node.name);
    given.push_back(program.want(gradients[i]));
  }
  original_ = evaluation.run({find_metric("fisher")})[0].layers;
  how_.threads = 1;
  how_.compile.threads = 1;
  how_.kind.loss = ProgramKind::Loss::given;
  for (size_t i = 0; i < found.size(); ++i) {
    layers_[network.nodes[found[i].node].name] = {
        layer_alone(network, found[i]), {program.result(reads[i]), {}, program.result(given[i])}};
  }
}

double FirstOrder::score(const std::string& layer, const Recipe& recipe) {
  auto key = std::pair(layer, print(recipe));
  {
    std::lock_guard lock(mutex_);
    auto known = known_.find(key);
    if (known != known_.end()) return known->second;
  }
  auto found = layers_.find(layer);
  if (found == layers_.end()) fail("the network has no convolution '{}'", layer);
  const auto& [graph, batch] = found->second;
  Graph changed = recipe.empty() ? graph : transformed(graph, {{pattern_of(layer), recipe}});
  Evaluation evaluation(initialised(changed, seed_), batch, how_);
  double score = evaluation.run({find_metric("fisher")})[0].total;
  std::lock_guard lock(mutex_);
  known_.emplace(key, score);
  return score;
}

}  // namespace lathe
