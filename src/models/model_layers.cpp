// model_layers.cpp: the layers that the built-in networks are made of. Interface: model_layers.h.
#include "models/model_layers.h"

#include <cmath>

namespace lathe::models {
namespace {

constexpr std::string_view cifar_suffix = "-cifar";

Shape twice(long value) { return {value, value}; }

/// Returns the attributes of a sliding window that are not the operators' defaults.
Attributes window(long stride, long pad) {
  Attributes attributes;
  if (stride != 1) attributes["strides"] = twice(stride);
  if (pad != 0) attributes["pads"] = Shape(4, pad);
  return attributes;
}

ValueId add_pool(GraphBuilder& g, const char* op, const std::string& name, ValueId x,
                 const Pool& pool) {
  Attributes attributes = window(pool.stride, pool.pad);
  attributes["kernel"] = twice(pool.kernel);
  return g.call(op, {x}, attributes, name);
}

}  // namespace

long size_of(Images images) { return images == Images::cifar ? 32 : 224; }

long classes_of(Images images) { return images == Images::cifar ? 10 : 1000; }

Images images_of(const std::string& name) {
  return name.ends_with(cifar_suffix) ? Images::cifar : Images::imagenet;
}

std::string without_images(const std::string& name) {
  if (images_of(name) != Images::cifar) return name;
  return name.substr(0, name.size() - cifar_suffix.size());
}

ValueId add_image(GraphBuilder& g, const std::string& network, const ModelOptions& options,
                  long size, long least) {
  size = options.size.value_or(size);
  if (size < least) {
    fail("{0}: images of {1}x{1} are too small; at least {2}x{2} are needed", network, size, least);
  }
  return g.input("input", {Element::f32, {options.batch, 3, size, size}});
}

ValueId add_conv(GraphBuilder& g, const std::string& name, ValueId x, const Conv& conv) {
  Shape shape = {conv.filters, g.shape(x)[1] / conv.groups, conv.kernel, conv.kernel};
  std::vector<ValueId> operands = {
      x, g.weight(name + ".weight", shape, he_fan_out(shape, conv.groups))};
  if (conv.bias == Bias::zeros) {
    operands.push_back(g.weight(name + ".bias", {conv.filters}, {Initial::Kind::zeros}));
  }
  Attributes attributes = window(conv.stride, conv.pad.value_or(conv.kernel / 2));
  if (conv.groups != 1) attributes["groups"] = conv.groups;
  return g.call("conv", operands, attributes, name);
}

ValueId add_batch_norm(GraphBuilder& g, const std::string& name, ValueId x) {
  Shape shape = {g.shape(x)[1]};
  const Initial zeros = {Initial::Kind::zeros}, ones = {Initial::Kind::ones};
  ValueId scale = g.weight(name + ".weight", shape, ones);
  ValueId shift = g.weight(name + ".bias", shape, zeros);
  ValueId mean = g.weight(name + ".running_mean", shape, zeros, Value::Kind::state);
  ValueId variance = g.weight(name + ".running_var", shape, ones, Value::Kind::state);
  return g.call("batch_norm", {x, scale, shift, mean, variance}, {}, name);
}

ValueId add_max_pool(GraphBuilder& g, const std::string& name, ValueId x, const Pool& pool) {
  return add_pool(g, "max_pool", name, x, pool);
}

ValueId add_avg_pool(GraphBuilder& g, const std::string& name, ValueId x, const Pool& pool) {
  return add_pool(g, "avg_pool", name, x, pool);
}

ValueId add_relu(GraphBuilder& g, const std::string& name, ValueId x) {
  return g.call("relu", {x}, {}, name);
}

ValueId add_linear(GraphBuilder& g, const std::string& name, ValueId x, long outputs,
                   const std::optional<Initial>& weight) {
  long inputs = g.shape(x)[1];
  Initial uniform = {Initial::Kind::uniform, 1 / std::sqrt(static_cast<double>(inputs))};
  ValueId w = g.weight(name + ".weight", {outputs, inputs}, weight.value_or(uniform));
  ValueId b = g.weight(name + ".bias", {outputs}, {Initial::Kind::zeros});
  return g.call("fully_connected", {x, w, b}, {}, name);
}

ValueId add_flatten(GraphBuilder& g, const std::string& name, ValueId x) {
  long n = g.shape(x)[0];
  return g.call("reshape", {x}, {{"shape", Shape{n, count_of(g.shape(x)) / n}}}, name);
}

void add_output(GraphBuilder& g, const std::string& name, ValueId value) {
  g.rename(value, name);
  g.output(value);
}

Graph finish_classifier(GraphBuilder& g, const std::string& name, ValueId x, long classes) {
  x = g.call("global_pool", {x}, {}, "avgpool");
  x = add_flatten(g, "flatten", x);
  add_output(g, "output", add_linear(g, name, x, classes));
  return g.build();
}

}  // namespace lathe::models
