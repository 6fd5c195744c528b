// walk.cpp: see walk.h.
#include "compile/walk.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op.h"
#include "program/alone.h"

namespace lathe {
namespace {

bool is_given(const Value& value) {
  return value.kind == Value::Kind::computed || value.kind == Value::Kind::input;
}

}  // namespace

Walk::Walk(const Graph& network, Samples inputs, Runners& runners, std::map<ValueId, size_t> wanted)
    : network_(network),
      runners_(runners),
      maker_(network.values.size(), network.nodes.size()),
      uses_(network.values.size(), 0),
      has_run_(network.nodes.size(), false),
      minibatches_(inputs.size()) {
  if (network.inputs.size() != 1) {
    fail("'{}' has {} inputs; only networks of one input are walked through", network.name,
         network.inputs.size());
  }
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    for (ValueId id : network.nodes[n].outputs) maker_[id] = n;
    for (ValueId id : network.nodes[n].inputs) {
      if (id != no_value) ++uses_[id];
    }
  }
  for (const auto& [value, times] : wanted) uses_[value] += times;
  known_[network.inputs.front()] = std::move(inputs);
}

const Walk::Samples& Walk::of(ValueId value) {
  auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  check(maker_[value] < network_.nodes.size() && uses_[value] > 0,
        "a value that is asked for is computed, and was not given up");
  std::vector<size_t> waiting{maker_[value]};  // networks are deep: no recursion
  while (!waiting.empty()) {
    size_t next = waiting.back();
    if (has_run_[next]) {  // two paths lead to it
      waiting.pop_back();
      continue;
    }
    bool is_ready = true;
    for (ValueId id : network_.nodes[next].inputs) {
      if (id == no_value || !is_given(network_.values[id]) || known_.contains(id)) continue;
      waiting.push_back(maker_[id]);
      is_ready = false;
    }
    if (is_ready) run(next);
  }
  return known_.at(value);
}

void Walk::run(size_t n) {
  const Node& node = network_.nodes[n];
  has_run_[n] = true;
  // Numbered names: nodes that are equal but for their weights are compiled once.
  Graph graph = alone(network_, {n}, AloneNames::plain);
  bool compiled = is_compilable(graph);
  Runner* runner = compiled ? &runners_.of(graph) : nullptr;
  for (size_t b = 0; b < minibatches_; ++b) {
    std::vector<Array> inputs, all;
    for (ValueId id : node.inputs) {
      if (id == no_value) continue;
      const Value& value = network_.values[id];
      all.push_back(is_given(value) ? known_.at(id)[b] : *value.data);
      if (is_given(value)) inputs.push_back(all.back());
    }
    std::vector<Array> outputs =
        compiled ? runner->run(inputs) : evaluate(context_, call_of(network_, node), all);
    for (size_t o = 0; o < outputs.size(); ++o) known_[node.outputs[o]].push_back(outputs[o]);
  }
  for (ValueId id : node.inputs) {
    if (id != no_value && is_given(network_.values[id])) release(id);
  }
}

void Walk::release(ValueId value) {
  if (--uses_[value] == 0) known_.erase(value);
}

}  // namespace lathe
