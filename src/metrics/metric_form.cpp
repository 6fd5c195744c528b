// metric_form.cpp: what networks read and say. Interface: metric_form.h.
#include "metrics/metric_form.h"

#include "autodiff/training.h"
#include "base/error.h"
#include "program/random_inputs.h"

namespace lathe {
namespace {

InputForm input_form(const Graph& network, ValueId id) {
  const Type& type = network.values[id].type;
  if (type.shape.empty() || type.dynamic) {
    fail("input '{}' of '{}' is {}: data have a first extent that counts samples",
         network.values[id].name, network.name, print_type(type));
  }
  InputForm form{{type.shape.begin() + 1, type.shape.end()}, 0};
  if (is_float(type.element)) return form;
  form.below = below_of(network, id);
  return form;
}

}  // namespace

std::vector<InputForm> inputs_of(const Graph& network) {
  std::vector<InputForm> forms;
  for (ValueId id : network.inputs) forms.push_back(input_form(network, id));
  return forms;
}

SampleForm form_of(const Graph& network) {
  return {inputs_of(network), network.values[classes_of(network)].type.shape[1]};
}

}  // namespace lathe
