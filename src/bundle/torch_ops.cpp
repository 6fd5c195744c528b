// torch_ops.cpp: operators without weights in PyTorch's words, and the list of all. Interface:
// torch_forms() of torch_site.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bundle/torch_site.h"

namespace lathe {
namespace {

using Forms = std::map<std::string, TorchForm>;

// Reductions.

/// Returns the dimensions that a reduction is over, none of them counted from the end.
Shape reduced_axes(const TorchSite& site) {
  Shape axes = site.call().integers("axes");
  auto rank = static_cast<long>(site.shape().size());
  for (long& axis : axes) axis = axis < 0 ? axis + rank : axis;
  if (!axes.empty()) return axes;
  for (long d = 0; d < rank; ++d) axes.push_back(d);
  return axes;
}

/// A reduction: a pattern with {x} for the operand and {over} for the arguments.
TorchForm reduction(const char* before, const char* after) {
  return {[before, after](const TorchSite& site) {
    Shape axes = reduced_axes(site);
    if (site.shape().empty())
      site.call().refuse("PyTorch has no reduction of a scalar over its dimensions");
    std::string keep = site.call().flag("keep") ? ", keepdim=True" : "";
    return fmt::format("{}{}{}{}){}", site.x(), before, print_tuple(axes), keep, after);
  }};
}

/// PyTorch multiplies along one dimension at a time.
std::string reduce_prod(const TorchSite& site) {
  Shape axes = reduced_axes(site);
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
  Forms forms{{"reduce_sum", reduction(".sum(", "")},
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
  forms.merge(torch_layer_forms());
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

std::string padded(const std::string& x, const Shape& around, double value) {
  if (around.empty()) return x;
  std::string filling = value == 0 ? "" : ", value=" + print_number(value);
  return fmt::format("F.pad({}, {}{})", x, print_tuple(around), filling);
}

std::string print_tuple(const Shape& list) {
  return fmt::format("({}{})", fmt::join(list, ", "), list.size() == 1 ? "," : "");
}

const std::map<std::string, TorchForm>& torch_forms() {
  static const Forms forms = all_forms();
  return forms;
}

}  // namespace lathe
