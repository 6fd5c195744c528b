// torch_layers.cpp: layers and windows in PyTorch's words: what may hold weights, and pools.
// Interface: torch_layer_forms() of torch_site.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "bundle/torch_site.h"

namespace lathe {
namespace {

/// Writes one number where all are the same, as PyTorch takes it, and else a tuple.
std::string print_each(const Shape& list) {
  bool same = std::all_of(list.begin(), list.end(), [&](long x) { return x == list[0]; });
  return same && !list.empty() ? fmt::format("{}", list[0]) : print_tuple(list);
}

bool all_are(const Shape& list, long value) {
  return std::all_of(list.begin(), list.end(), [&](long x) { return x == value; });
}

/// Writes an argument by its name, and nothing where it is the default of all its numbers.
std::string argument(const char* name, const Shape& list, long otherwise) {
  return all_are(list, otherwise) ? "" : fmt::format(", {}={}", name, print_each(list));
}

/// Returns the number of dimensions of a window as it stands in the names of layers: "2d".
std::string dimensions(const Call& call) {
  size_t count = call.shape(0).size() - 2;
  if (count < 1 || count > 3) call.refuse("PyTorch has no window of {} dimensions", count);
  return fmt::format("{}d", count);
}

/// How a window is laid over its input: padding that is alike on both sides is an argument, other
/// padding an operation of its own.
struct Padding {
  Shape alike;   ///< of each dimension; zeros where "around" says it
  Shape around;  ///< as F.pad() takes it: the last dimension first; empty: none
};

Padding padding_of(const Call& call, size_t dims) {
  Shape pads = call.integers("pads", 2 * dims);
  Shape before(pads.begin(), pads.begin() + static_cast<long>(dims));
  Shape after(pads.begin() + static_cast<long>(dims), pads.end());
  if (before == after) return {before, {}};
  Padding result{Shape(dims, 0), {}};
  for (size_t d = dims; d-- > 0;) {
    result.around.push_back(before[d]);
    result.around.push_back(after[d]);
  }
  return result;
}

// Layers.

/// Are the operands that a module would hold its own? Operand 0 is the input.
bool owns_weights(const TorchSite& site) {
  for (size_t i = 1; i < site.call().inputs(); ++i) {
    if (site.call().has(i) && !site.learnt[i]) return false;
  }
  return true;
}

std::string bias_argument(const Call& call) { return call.has(2) ? "" : ", bias=False"; }

struct ConvolutionArguments {
  Padding padding;
  std::string text;  ///< stride, padding, dilation, groups
};

ConvolutionArguments convolution_arguments(const Call& call) {
  size_t dims = call.shape(0).size() - 2;
  Padding padding = padding_of(call, dims);
  long groups = call.integer("groups");
  std::string text = argument("stride", call.integers("strides", dims), 1) +
                     argument("padding", padding.alike, 0) +
                     argument("dilation", call.integers("dilations", dims), 1) +
                     argument("groups", {groups}, 1);
  return {padding, text};
}

std::optional<TorchLayer> conv_layer(const TorchSite& site) {
  const Call& call = site.call();
  if (!owns_weights(site)) return std::nullopt;
  const Shape& weight = call.shape(1);
  std::string text = fmt::format("nn.Conv{}({}, {}, {}{}{})", dimensions(call), call.shape(0)[1],
                                 weight[0], print_each(Shape(weight.begin() + 2, weight.end())),
                                 convolution_arguments(call).text, bias_argument(call));
  return TorchLayer{text, {"", "weight", "bias"}, true};
}

std::string conv(const TorchSite& site) {
  ConvolutionArguments arguments = convolution_arguments(site.call());
  std::string x = padded(site.x(), arguments.padding.around);
  if (!site.layer.empty()) return fmt::format("{}({})", site.layer, x);
  return fmt::format("F.conv{}({}, {}, {}{})", dimensions(site.call()), x, site.operand(1),
                     site.operand(2), arguments.text);
}

std::optional<TorchLayer> linear_layer(const TorchSite& site) {
  if (!owns_weights(site)) return std::nullopt;
  const Shape& weight = site.shape(1);
  return TorchLayer{
      fmt::format("nn.Linear({}, {}{})", weight[1], weight[0], bias_argument(site.call())),
      {"", "weight", "bias"}};
}

std::string linear(const TorchSite& site) {
  if (!site.layer.empty()) return fmt::format("{}({})", site.layer, site.x());
  return fmt::format("F.linear({}, {}, {})", site.x(), site.operand(1), site.operand(2));
}

std::string epsilon_argument(const Call& call) {
  double epsilon = call.real("epsilon");
  return epsilon == 1e-5 ? "" : ", eps=" + print_number(epsilon);
}

std::optional<TorchLayer> batch_norm_layer(const TorchSite& site) {
  size_t rank = site.shape().size();
  bool own = site.learnt[1] && site.learnt[2] && site.kept[3] && site.kept[4];
  if (!own || rank < 2 || rank > 5) return std::nullopt;
  return TorchLayer{fmt::format("nn.BatchNorm{}d({}{})", std::max<size_t>(rank, 3) - 2,
                                site.shape()[1], epsilon_argument(site.call())),
                    {"", "weight", "bias", "running_mean", "running_var"}};
}

std::string batch_norm(const TorchSite& site) {
  if (!site.layer.empty()) return fmt::format("{}({})", site.layer, site.x());
  return fmt::format("F.batch_norm({}, {}, {}, {}, {}{})", site.x(), site.operand(3),
                     site.operand(4), site.operand(1), site.operand(2),
                     epsilon_argument(site.call()));
}

/// The dimensions that a layer_norm is over, where its operands have just these.
std::optional<Shape> normalised(const Call& call) {
  const Shape& input = call.shape(0);
  auto axis = static_cast<long>(call.axis("axis", input.size()));
  Shape last(input.begin() + axis, input.end());
  bool plain = call.shape(1) == last && (!call.has(2) || call.shape(2) == last);
  return plain ? std::optional(last) : std::nullopt;
}

std::optional<TorchLayer> layer_norm_layer(const TorchSite& site) {
  auto last = normalised(site.call());
  // Without the argument "bias", which came with PyTorch 2.1, a module always has one.
  if (!last || !site.call().has(2) || !owns_weights(site)) return std::nullopt;
  return TorchLayer{
      fmt::format("nn.LayerNorm({}{})", print_tuple(*last), epsilon_argument(site.call())),
      {"", "weight", "bias"}};
}

std::string layer_norm(const TorchSite& site) {
  if (!site.layer.empty()) return fmt::format("{}({})", site.layer, site.x());
  auto last = normalised(site.call());
  if (!last) {
    site.call().refuse("PyTorch has no normalisation with weights {} of an input {}",
                       print_shape(site.shape(1)), print_shape(site.shape()));
  }
  return fmt::format("F.layer_norm({}, {}, {}, {}{})", site.x(), print_tuple(*last),
                     site.operand(1), site.operand(2), epsilon_argument(site.call()));
}

// Pools.

/// Does PyTorch make as many outputs of the window? It drops windows that begin in the padding.
void check_pool(const TorchSite& site, const Shape& kernel, const Shape& alike) {
  const Call& call = site.call();
  if (!call.flag("ceil")) return;
  size_t dims = kernel.size();
  Shape strides = call.integers("strides", dims), dilations = call.integers("dilations", dims);
  for (size_t d = 0; d < dims; ++d) {
    long input = site.shape()[d + 2];
    long room = input + 2 * alike[d] - dilations[d] * (kernel[d] - 1) - 1;
    long outputs = (room + strides[d] - 1) / strides[d] + 1;
    if ((outputs - 1) * strides[d] >= input + alike[d]) --outputs;
    if (outputs != site.output()[d + 2]) {
      call.refuse("PyTorch makes another number of outputs of windows that reach so far beyond {}",
                  print_shape(site.shape()));
    }
  }
}

/// Returns the padding of a pool, which PyTorch takes up to half a kernel only.
Padding pool_padding(const TorchSite& site, const Shape& kernel) {
  Padding padding = padding_of(site.call(), kernel.size());
  bool large = false;
  for (size_t d = 0; d < kernel.size(); ++d) large = large || 2 * padding.alike[d] > kernel[d];
  if (large) {
    for (size_t d = kernel.size(); d-- > 0;) {
      padding.around.insert(padding.around.end(), 2, padding.alike[d]);
    }
    padding.alike.assign(kernel.size(), 0);
  }
  if (!padding.around.empty() && site.call().flag("ceil")) {
    site.call().refuse("PyTorch has no pool that rounds up with the padding {}",
                       print_attribute(site.call().integers("pads", 2 * kernel.size())));
  }
  check_pool(site, kernel, padding.alike);
  return padding;
}

std::string max_pool(const TorchSite& site) {
  const Call& call = site.call();
  const Shape& kernel = call.integers("kernel");
  size_t dims = kernel.size();
  Padding padding = pool_padding(site, kernel);
  std::string x = padded(site.x(), padding.around, -std::numeric_limits<double>::infinity());
  return fmt::format("F.max_pool{}({}, {}, {}{}{}{})", dimensions(call), x, print_each(kernel),
                     print_each(call.integers("strides", dims)),
                     argument("padding", padding.alike, 0),
                     argument("dilation", call.integers("dilations", dims), 1),
                     call.flag("ceil") ? ", ceil_mode=True" : "");
}

std::string avg_pool(const TorchSite& site) {
  const Call& call = site.call();
  const Shape& kernel = call.integers("kernel");
  size_t dims = kernel.size();
  if (!all_are(call.integers("dilations", dims), 1)) call.refuse("PyTorch has no dilation of it");
  Padding padding = pool_padding(site, kernel);
  std::string function = fmt::format("F.avg_pool{}", dimensions(call));
  std::string strides = print_each(call.integers("strides", dims));
  bool counts = call.flag("count_pad");
  if (!padding.around.empty() && !counts) {
    return fmt::format("mean_of_covered({}, {}, {}, {}, {})", function, site.x(),
                       print_tuple(padding.around), print_each(kernel), strides);
  }
  bool pads = !all_are(padding.alike, 0);
  return fmt::format("{}({}, {}, {}{}{}{})", function, padded(site.x(), padding.around),
                     print_each(kernel), strides, argument("padding", padding.alike, 0),
                     call.flag("ceil") ? ", ceil_mode=True" : "",
                     counts || !pads ? "" : ", count_include_pad=False");
}

std::string global_pool(const TorchSite& site) {
  Shape over;
  for (size_t d = 2; d < site.shape().size(); ++d) over.push_back(static_cast<long>(d));
  return fmt::format("{}.mean({}, keepdim=True)", site.x(), print_tuple(over));
}

}  // namespace

std::map<std::string, TorchForm> torch_layer_forms() {
  return {{"conv", {conv, conv_layer}},
          {"fully_connected", {linear, linear_layer}},
          {"batch_norm", {batch_norm, batch_norm_layer}},
          {"layer_norm", {layer_norm, layer_norm_layer}},
          {"max_pool", {max_pool}},
          {"avg_pool", {avg_pool}},
          {"global_pool", {global_pool}}};
}

}  // namespace lathe
