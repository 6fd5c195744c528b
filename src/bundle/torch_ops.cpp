// torch_ops.cpp: Lathe's operators in PyTorch's words. Interface: torch_forms() of torch_site.h.
//
// Operators that hold weights are modules where the weights are their own; elsewhere, and for all
// others, functions stand for them.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bundle/torch_site.h"

namespace lathe {
namespace {

using Forms = std::map<std::string, TorchForm>;

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

std::string padded(const std::string& x, const Shape& around, double value = 0) {
  if (around.empty()) return x;
  std::string filling = value == 0 ? "" : ", value=" + print_number(value);
  return fmt::format("F.pad({}, {}{})", x, print_tuple(around), filling);
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

// Reductions.

/// A reduction: a pattern with {x} for the operand and {over} for the arguments.
TorchForm reduction(const char* before, const char* after) {
  return {[before, after](const TorchSite& site) {
    Shape axes = site.call().integers("axes");
    auto rank = static_cast<long>(site.shape().size());
    for (long& axis : axes) axis = axis < 0 ? axis + rank : axis;
    if (axes.empty()) {
      for (long d = 0; d < rank; ++d) axes.push_back(d);
    }
    if (rank == 0) site.call().refuse("PyTorch has no reduction of a scalar over its dimensions");
    std::string keep = site.call().flag("keep") ? ", keepdim=True" : "";
    return fmt::format("{}{}{}{}){}", site.x(), before, print_tuple(axes), keep, after);
  }};
}

/// PyTorch multiplies along one dimension at a time.
std::string reduce_prod(const TorchSite& site) {
  Shape axes = site.call().integers("axes");
  auto rank = static_cast<long>(site.shape().size());
  for (long& axis : axes) axis = axis < 0 ? axis + rank : axis;
  if (axes.empty()) {
    for (long d = 0; d < rank; ++d) axes.push_back(d);
  }
  std::sort(axes.begin(), axes.end(), std::greater<>());
  std::string result = site.x();
  for (long axis : axes) {
    result += fmt::format(".prod({}{})", axis, site.call().flag("keep") ? ", keepdim=True" : "");
  }
  return result;
}

// Moving data.

std::string reshape(const TorchSite& site) {
  const Shape &from = site.shape(), &to = site.output();
  if (to.empty() || count_of(to) == 0) {
    return fmt::format("{}.reshape({})", site.x(), print_tuple(to));
  }
  if (to.size() == 2 && from.size() > 2 && from[0] == to[0]) {
    return fmt::format("{}.flatten(1)", site.x());
  }
  // What the first dimension is follows from the others: it may hold any number of samples.
  Shape shape = to;
  shape[0] = -1;
  return fmt::format("{}.reshape({})", site.x(), fmt::join(shape, ", "));
}

std::string expand(const TorchSite& site) {
  const Shape &from = site.shape(), &to = site.output();
  std::vector<std::string> sizes;
  for (size_t d = 0; d < to.size(); ++d) {
    bool is_new = d + from.size() < to.size();
    bool stays = !is_new && from[d + from.size() - to.size()] == to[d];
    sizes.push_back(stays ? "-1" : fmt::format("{}", to[d]));
    if (d == 0 && is_new && !site.samples.empty()) sizes.back() = site.samples;
  }
  return fmt::format("{}.expand({})", site.x(), fmt::join(sizes, ", "));
}

std::string transpose(const TorchSite& site) {
  return fmt::format("{}.permute({})", site.x(), fmt::join(site.call().integers("perm"), ", "));
}

std::string concat(const TorchSite& site) {
  return fmt::format("torch.cat(({}{}), {})", fmt::join(site.inputs, ", "),
                     site.inputs.size() == 1 ? "," : "",
                     site.call().axis("axis", site.shape().size()));
}

/// Indices that go down are read upwards and turned round.
std::string slice(const TorchSite& site) {
  const Call& call = site.call();
  const Shape &starts = call.integers("starts"), &sizes = call.integers("sizes");
  Shape steps = call.integers("steps", starts.size()), turned;
  std::vector<std::string> parts;
  size_t last = 0;
  for (size_t d = 0; d < starts.size(); ++d) {
    long extent = site.shape()[d], start = starts[d], step = steps[d], size = sizes[d];
    if (step < 0 && size > 0) {
      start += (size - 1) * step;
      step = -step;
      turned.push_back(static_cast<long>(d));
    }
    long end = size == 0 ? start : start + (size - 1) * step + 1;
    bool whole = start == 0 && step == 1 && size == extent;
    std::string from = start == 0 ? "" : fmt::format("{}", start);
    std::string to = end == extent ? "" : fmt::format("{}", end);
    parts.push_back(whole ? ":" : from + ":" + to + (step == 1 ? "" : fmt::format(":{}", step)));
    if (!whole) last = d + 1;
  }
  parts.resize(last);
  std::string cut = last == 0 ? site.x() : fmt::format("{}[{}]", site.x(), fmt::join(parts, ", "));
  return turned.empty() ? cut : fmt::format("torch.flip({}, {})", cut, print_tuple(turned));
}

/// Writes indices shortly: range(0, 64, 2), or [*range(0, 8), *range(0, 8), 3].
std::string print_indices(const Shape& indices) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < indices.size();) {
    size_t end = i + 1;
    long step = end < indices.size() ? indices[end] - indices[i] : 0;
    while (step > 0 && end < indices.size() && indices[end] - indices[end - 1] == step) ++end;
    constexpr size_t worth_it = 4;
    if (end - i < worth_it) {
      parts.push_back(fmt::format("{}", indices[i++]));
      continue;
    }
    std::string by = step == 1 ? "" : fmt::format(", {}", step);
    std::string range = fmt::format("range({}, {}{})", indices[i], indices[end - 1] + 1, by);
    if (end - i == indices.size()) return range;
    parts.push_back('*' + range);
    i = end;
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

/// The indices are a module, so that they lie where the weights lie.
std::optional<TorchLayer> take_layer(const TorchSite& site) {
  size_t axis = site.call().axis("axis", site.shape().size());
  Shape indices = site.call().integers("indices");
  for (long& index : indices) index = index < 0 ? index + site.shape()[axis] : index;
  return TorchLayer{fmt::format("Take({}, {})", axis, print_indices(indices)), {""}};
}

std::string take(const TorchSite& site) { return fmt::format("{}({})", site.layer, site.x()); }

std::string gather(const TorchSite& site) {
  size_t axis = site.call().axis("axis", site.shape().size());
  std::string before;
  for (size_t d = 0; d < axis; ++d) before += ":, ";
  return fmt::format("{}[{}{}]", site.x(), before, site.operand(1));
}

std::string pad(const TorchSite& site) {
  Shape pads = site.call().integers("pads"), around;
  size_t rank = site.shape().size();
  for (size_t d = rank; d-- > 0;) {
    around.push_back(pads[d]);
    around.push_back(pads[rank + d]);
  }
  while (around.size() > 2 && around.back() == 0 && around[around.size() - 2] == 0) {
    around.resize(around.size() - 2);
  }
  return padded(site.x(), around, site.call().real("value"));
}

std::string cast(const TorchSite& site) {
  const std::string& name = site.call().text("to");
  auto type = torch_type(*element_named(name));
  if (!type) site.call().refuse("PyTorch has no elements '{}'", name);
  return fmt::format("{}.to({})", site.x(), *type);
}

// Elements.

std::string clip(const TorchSite& site) {
  double least = site.call().real("min"), most = site.call().real("max");
  if (least == 0 && most == 6) return fmt::format("F.relu6({})", site.x());
  auto bound = [](double value) { return std::isinf(value) ? "None" : print_number(value); };
  if (std::isinf(least) && std::isinf(most)) return site.x();
  return fmt::format("torch.clamp({}, {}, {})", site.x(), bound(least), bound(most));
}

std::string division(const TorchSite& site) {
  if (is_float(site.call().element(0))) return fmt::format("{} / {}", site.x(), site.operand(1));
  return fmt::format("torch.div({}, {}, rounding_mode=\"trunc\")", site.x(), site.operand(1));
}

TorchForm along_axis(const char* function) {
  return {[function](const TorchSite& site) {
    return fmt::format("{}({}, {})", function, site.x(),
                       site.call().axis("axis", site.shape().size()));
  }};
}

/// A pattern in which {0}, {1} ... are the operands, and {alpha} ... settings.
TorchForm pattern(const std::string& text, const std::vector<std::string>& settings = {}) {
  return {[text, settings](const TorchSite& site) {
    std::string result = text;
    auto put = [&](const std::string& name, const std::string& value) {
      for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at)) {
        result.replace(at, name.size(), value);
        at += value.size();
      }
    };
    for (const std::string& name : settings) {
      put('{' + name + '}', print_number(site.call().real(name)));
    }
    for (size_t i = 0; i < site.inputs.size(); ++i) put(fmt::format("{{{}}}", i), site.operand(i));
    return result;
  }};
}

void add_elementwise(Forms& forms) {
  for (const char* name :
       {"abs",  "acos", "acosh", "asin",  "asinh", "atan",    "atanh",      "ceil", "cos",
        "cosh", "erf",  "exp",   "floor", "log",   "neg",     "round",      "sign", "reciprocal",
        "sin",  "sinh", "sqrt",  "tan",   "tanh",  "sigmoid", "logical_not"}) {
    forms.emplace(name, pattern(fmt::format("torch.{}({{0}})", name)));
  }
  for (const char* name :
       {"maximum", "minimum", "pow", "matmul", "logical_and", "logical_or", "logical_xor"}) {
    forms.emplace(name, pattern(fmt::format("torch.{}({{0}}, {{1}})", name)));
  }
  for (const char* name : {"relu", "selu", "softplus", "softsign", "mish", "gelu"}) {
    forms.emplace(name, pattern(fmt::format("F.{}({{0}})", name)));
  }
  for (const auto& [name, sign] : std::map<std::string, std::string>{{"add", "+"},
                                                                     {"sub", "-"},
                                                                     {"mul", "*"},
                                                                     {"equal", "=="},
                                                                     {"less", "<"},
                                                                     {"less_equal", "<="},
                                                                     {"greater", ">"},
                                                                     {"greater_equal", ">="}}) {
    forms.emplace(name, pattern(fmt::format("{{0}} {} {{1}}", sign)));
  }
  forms.emplace("identity", pattern("{0}"));
  forms.emplace("mod", pattern("torch.remainder({0}, {1})"));
  forms.emplace("rem", pattern("torch.fmod({0}, {1})"));
  forms.emplace("where", pattern("torch.where({0}, {1}, {2})"));
  forms.emplace("is_nan", pattern("torch.isnan({0})"));
  forms.emplace("hard_swish", pattern("F.hardswish({0})"));
  forms.emplace("gelu_tanh", pattern("F.gelu({0}, approximate=\"tanh\")"));
  // F.prelu() has one slope for each channel; the operator's may have any shape that broadcasts.
  forms.emplace("prelu", pattern("torch.where({0} < 0, {1} * {0}, {0})"));
  forms.emplace("leaky_relu", pattern("F.leaky_relu({0}, {alpha})", {"alpha"}));
  forms.emplace("thresholded_relu", pattern("F.threshold({0}, {alpha}, 0.0)", {"alpha"}));
  forms.emplace("elu", pattern("F.elu({0}, {alpha})", {"alpha"}));
  forms.emplace("celu", pattern("F.celu({0}, {alpha})", {"alpha"}));
  forms.emplace("swish", pattern("{0} * torch.sigmoid({alpha} * {0})", {"alpha"}));
  forms["selu"] = pattern("{gamma} * torch.where({0} > 0, {0}, {alpha} * torch.expm1({0}))",
                          {"alpha", "gamma"});
  forms.emplace("hard_sigmoid",
                pattern("torch.clamp({alpha} * {0} + {beta}, 0, 1)", {"alpha", "beta"}));
}

Forms all_forms() {
  Forms forms{{"conv", {conv, conv_layer}},
              {"fully_connected", {linear, linear_layer}},
              {"batch_norm", {batch_norm, batch_norm_layer}},
              {"layer_norm", {layer_norm, layer_norm_layer}},
              {"max_pool", {max_pool}},
              {"avg_pool", {avg_pool}},
              {"global_pool", {global_pool}},
              {"reduce_sum", reduction(".sum(", "")},
              {"reduce_mean", reduction(".mean(", "")},
              {"reduce_max", reduction(".amax(", "")},
              {"reduce_min", reduction(".amin(", "")},
              {"reduce_l1", reduction(".abs().sum(", "")},
              {"reduce_l2", reduction(".square().sum(", ".sqrt()")},
              {"reduce_sum_square", reduction(".square().sum(", "")},
              {"reduce_log_sum", reduction(".sum(", ".log()")},
              {"reduce_log_sum_exp", reduction(".logsumexp(", "")},
              {"reduce_prod", {reduce_prod}},
              {"softmax", along_axis("F.softmax")},
              {"log_softmax", along_axis("F.log_softmax")},
              {"reshape", {reshape}},
              {"expand", {expand}},
              {"transpose", {transpose}},
              {"concat", {concat}},
              {"slice", {slice}},
              {"take", {take, take_layer}},
              {"gather", {gather}},
              {"pad", {pad}},
              {"cast", {cast}},
              {"clip", {clip}},
              {"div", {division}}};
  add_elementwise(forms);
  return forms;
}

}  // namespace

std::string TorchSite::operand(size_t i) const {
  return i < inputs.size() && !inputs[i].empty() ? inputs[i] : "None";
}

std::optional<std::string> torch_type(Element element) {
  // Other unsigned integers came with PyTorch 2.3, and hardly an operation takes them.
  static const std::map<Element, std::string> types = {
      {Element::f16, "float16"}, {Element::bf16, "bfloat16"}, {Element::f32, "float32"},
      {Element::f64, "float64"}, {Element::i8, "int8"},       {Element::i16, "int16"},
      {Element::i32, "int32"},   {Element::i64, "int64"},     {Element::u8, "uint8"},
      {Element::boolean, "bool"}};
  auto found = types.find(element);
  return found == types.end() ? std::nullopt : std::optional("torch." + found->second);
}

std::string print_number(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string print_tuple(const Shape& list) {
  return fmt::format("({}{})", fmt::join(list, ", "), list.size() == 1 ? "," : "");
}

const std::map<std::string, TorchForm>& torch_forms() {
  static const Forms forms = all_forms();
  return forms;
}

}  // namespace lathe
