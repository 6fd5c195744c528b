// metric_form.cpp: what networks read and say. Interface: metric_form.h.
#include "metrics/metric_form.h"

#include <algorithm>
#include <array>
#include <limits>

#include "autodiff/training.h"
#include "base/error.h"
#include "ops/op.h"

namespace lathe {
namespace {

/// What an index may always be: 0 or 1.
constexpr long any_index = 2;
constexpr long any_byte = 256;

/// Operators that hand on the whole numbers that they read, in another shape or type.
bool hands_on(const Node& node) {
  static constexpr std::array names = {"cast",    "flatten",   "identity", "reshape",
                                       "squeeze", "transpose", "unsqueeze"};
  return std::find(names.begin(), names.end(), node.op) != names.end();
}

/// Returns the least extent that a value is an index of, here or behind nodes that hand it on.
long extent_indexed(const Graph& network, ValueId value) {
  long least = std::numeric_limits<long>::max();
  for (const Node& node : network.nodes) {
    bool reads = std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
    if (!reads) continue;
    if (hands_on(node)) {
      least = std::min(least, extent_indexed(network, node.outputs[0]));
    } else if (node.op == "gather" && node.inputs[1] == value) {
      Call call = call_of(network, node);
      least = std::min(least, call.shape(0)[call.axis("axis", call.shape(0).size())]);
    }
  }
  return least;
}

InputForm input_form(const Graph& network, ValueId id) {
  const Type& type = network.values[id].type;
  if (type.shape.empty() || type.dynamic) {
    fail("input '{}' of '{}' is {}: data have a first extent that counts samples",
         network.values[id].name, network.name, print_type(type));
  }
  InputForm form{{type.shape.begin() + 1, type.shape.end()}, 0};
  if (is_float(type.element)) return form;
  form.below = extent_indexed(network, id);
  if (form.below == std::numeric_limits<long>::max()) {
    form.below = type.element == Element::u8 ? any_byte : any_index;
  }
  return form;
}

}  // namespace

SampleForm form_of(const Graph& network) {
  SampleForm form{{}, network.values[classes_of(network)].type.shape[1]};
  for (ValueId id : network.inputs) form.inputs.push_back(input_form(network, id));
  return form;
}

}  // namespace lathe
