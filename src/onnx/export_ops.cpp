// export_ops.cpp: Lathe's operators in ONNX's words. Interface: exports() of export_site.h.
//
// Each is written so that the importer makes the same node of it again.
#include <algorithm>
#include <limits>

#include "onnx/export_site.h"

namespace lathe {
namespace {

using Exports = std::map<std::string, Export>;

/// An operator that ONNX has under another name, with the same operands.
Export renamed(const std::string& op, long since = 0) {
  return {[op](const ExportSite& site) { site.finish(op, site.inputs()); }, since};
}

/// ... and with settings: ours and theirs.
Export with_settings(const std::string& op,
                     const std::vector<std::pair<std::string, std::string>>& names,
                     long since = 0) {
  return {[op, names](const ExportSite& site) {
            OnnxAttributes attributes;
            for (const auto& [ours, theirs] : names) {
              attributes.emplace_back(theirs, site.call().real(ours));
            }
            site.finish(op, site.inputs(), attributes);
          },
          since};
}

Export with_integers(const std::string& op,
                     const std::vector<std::pair<std::string, std::string>>& names) {
  return {[op, names](const ExportSite& site) {
    OnnxAttributes attributes;
    for (const auto& [ours, theirs] : names) {
      attributes.emplace_back(theirs, site.call().integer(ours));
    }
    site.finish(op, site.inputs(), attributes);
  }};
}

void clip(const ExportSite& site) {
  Element element = site.call().element(0);
  auto bound = [&](const char* name) {
    double value = site.call().real(name);
    bool none = value == std::numeric_limits<double>::infinity() ||
                value == -std::numeric_limits<double>::infinity();
    return none ? std::string() : site.scalar(name, value, element);
  };
  site.finish("Clip", {site.input(0), bound("min"), bound("max")});
}

/// x / 2 * (1 + erf(x / sqrt(2))), written as PyTorch writes it.
void gelu(const ExportSite& site) {
  Element element = site.call().element(0);
  std::string x = site.input(0);
  std::string scaled = site.between("Div", {x, site.scalar("sqrt2", 1.4142135623730951, element)});
  std::string sum =
      site.between("Add", {site.between("Erf", {scaled}), site.scalar("one", 1, element)});
  std::string product = site.between("Mul", {x, sum});
  site.finish("Mul", {product, site.scalar("half", 0.5, element)});
}

void gelu_tanh(const ExportSite& site) {
  site.finish("Gelu", site.inputs(), {{"approximate", std::string("tanh")}});
}

void rem(const ExportSite& site) { site.finish("Mod", site.inputs(), {{"fmod", 1L}}); }

Export shift(const std::string& direction) {
  return {[direction](const ExportSite& site) {
    site.finish("BitShift", site.inputs(), {{"direction", direction}});
  }};
}

void is_inf(const ExportSite& site) {
  site.finish("IsInf", site.inputs(),
              {{"detect_positive", static_cast<long>(site.call().real("positive"))},
               {"detect_negative", static_cast<long>(site.call().real("negative"))}});
}

void cast(const ExportSite& site) {
  long to = onnx_of_element(*element_named(site.call().text("to")));
  site.finish("Cast", site.inputs(), {{"to", to}});
}

// Windows.

OnnxAttributes window(const ExportSite& site, const Shape& kernel) {
  const Call& call = site.call();
  size_t dims = kernel.size();
  return {{"kernel_shape", kernel},
          {"strides", call.integers("strides", dims)},
          {"dilations", call.integers("dilations", dims)},
          {"pads", call.integers("pads", 2 * dims)}};
}

/// Returns the operands of a sum: those of narrow types as numbers of its type.
std::vector<std::string> summed(const ExportSite& site) {
  std::vector<std::string> inputs = site.inputs();
  const std::string& to = site.call().text("to");
  if (to.empty()) return inputs;
  Element element = *element_named(to);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].empty() || site.call().element(i) == element) continue;
    inputs[i] = site.between("Cast", {inputs[i]}, {{"to", onnx_of_element(element)}});
  }
  return inputs;
}

/// Are 8-bit integers multiplied and added up as 32-bit ones? ONNX has operators for that.
bool multiplies_bytes(const Call& call) {
  return call.text("to") == "i32" && size_of(call.element(0)) == 1 && size_of(call.element(1)) == 1;
}

/// Returns an image with a border that holds "padding": a convolution of ONNX pads with zeros.
std::string bordered(const ExportSite& site, const std::string& image, Element element,
                     size_t dims) {
  const Call& call = site.call();
  Shape pads = call.integers("pads", 2 * dims), all(2 * dims + 4, 0);
  std::copy_n(pads.begin(), dims, all.begin() + 2);
  std::copy_n(pads.begin() + static_cast<long>(dims), dims, all.end() - static_cast<long>(dims));
  return site.between("Pad", {image, site.integers("border", all),
                              site.scalar("padding", call.real("padding"), element)});
}

void conv(const ExportSite& site) {
  const Shape& weight = site.call().shape(1);
  size_t dims = weight.size() - 2;
  OnnxAttributes attributes = window(site, Shape(weight.begin() + 2, weight.end()));
  attributes.emplace_back("group", site.call().integer("groups"));
  bool bytes = multiplies_bytes(site.call());
  std::vector<std::string> inputs = bytes ? site.inputs() : summed(site);
  if (site.call().real("padding") != 0) {
    Element element = bytes ? site.call().element(0) : site.output_type().element;
    inputs[0] = bordered(site, inputs[0], element, dims);
    for (auto& [name, value] : attributes) {
      if (name == "pads") value = Shape(2 * dims, 0);
    }
  }
  if (!bytes) return site.finish("Conv", inputs, attributes);
  if (inputs.size() < 3) return site.finish("ConvInteger", inputs, attributes);
  std::string sums = site.between("ConvInteger", {inputs[0], inputs[1]}, attributes);
  Shape shape(dims + 1, 1);
  shape[0] = weight[0];
  std::string bias = site.between("Reshape", {inputs[2], site.integers("bias", shape)});
  site.finish("Add", {sums, bias});
}

void conv_transpose(const ExportSite& site) {
  const Shape& weight = site.call().shape(1);
  OnnxAttributes attributes = window(site, Shape(weight.begin() + 2, weight.end()));
  attributes.emplace_back("group", site.call().integer("groups"));
  Shape extra = site.call().integers("output_pads");
  if (!extra.empty()) attributes.emplace_back("output_padding", extra);
  site.finish("ConvTranspose", site.inputs(), attributes);
}

OnnxAttributes pool(const ExportSite& site) {
  OnnxAttributes attributes = window(site, site.call().integers("kernel"));
  attributes.emplace_back("ceil_mode", site.call().integer("ceil"));
  return attributes;
}

void max_pool(const ExportSite& site) { site.finish("MaxPool", site.inputs(), pool(site)); }

void avg_pool(const ExportSite& site) {
  OnnxAttributes attributes = pool(site);
  // Dilations came late, and are left out where there are none.
  std::erase_if(attributes, [&](const auto& a) {
    return a.first == "dilations" && site.call().integers("dilations").empty();
  });
  attributes.emplace_back("count_include_pad", site.call().integer("count_pad"));
  site.finish("AveragePool", site.inputs(), attributes);
}

void lp_pool(const ExportSite& site) {
  OnnxAttributes attributes = pool(site);
  attributes.emplace_back("p", site.call().integer("p"));
  site.finish("LpPool", site.inputs(), attributes);
}

void matmul(const ExportSite& site) {
  if (multiplies_bytes(site.call())) return site.finish("MatMulInteger", site.inputs());
  site.finish("MatMul", summed(site));
}

// Layers.

void fully_connected(const ExportSite& site) {
  site.finish("Gemm", summed(site), {{"transB", 1L}});
}

void layer_norm(const ExportSite& site) {
  site.finish("LayerNormalization", site.inputs(),
              {{"axis", site.call().integer("axis")}, {"epsilon", site.call().real("epsilon")}});
}

void lrn(const ExportSite& site) {
  const Call& call = site.call();
  site.finish("LRN", site.inputs(),
              {{"size", call.integer("size")},
               {"alpha", call.real("alpha")},
               {"beta", call.real("beta")},
               {"bias", call.real("bias")}});
}

Export along_axis(const std::string& op) {
  return {[op](const ExportSite& site) {
    site.finish(op, site.inputs(), {{"axis", site.call().integer("axis")}});
  }};
}

/// Axes are an operand of ReduceSum since operator set 13, and of the others since 18.
Export reduction(const std::string& op) {
  return {[op](const ExportSite& site) {
    Shape axes = site.call().integers("axes");
    OnnxAttributes attributes{{"keepdims", site.call().integer("keep")}};
    std::vector<std::string> inputs = op == "ReduceSum" ? summed(site) : site.inputs();
    if (op == "ReduceSum" || site.opset() >= 18) {
      if (!axes.empty()) inputs.push_back(site.integers("axes", axes));
    } else if (!axes.empty()) {
      attributes.emplace_back("axes", axes);
    }
    site.finish(op, inputs, attributes);
  }};
}

Export arg_extreme(const std::string& op) {
  return with_integers(op, {{"axis", "axis"}, {"keep", "keepdims"}, {"last", "select_last_index"}});
}

Export scan(const std::string& op, long since) {
  return {[op](const ExportSite& site) {
            const Call& call = site.call();
            std::string axis =
                site.scalar("axis", static_cast<double>(call.integer("axis")), Element::i64);
            site.finish(
                op, {site.input(0), axis},
                {{"exclusive", call.integer("exclusive")}, {"reverse", call.integer("reverse")}});
          },
          since};
}

// Moving data.

void reshape(const ExportSite& site) {
  const Shape& shape = site.call().integers("shape");
  bool zeros = std::find(shape.begin(), shape.end(), 0) != shape.end();
  site.finish("Reshape", {site.input(0), site.integers("shape", shape)},
              zeros ? OnnxAttributes{{"allowzero", 1L}} : OnnxAttributes{});
}

void expand(const ExportSite& site) {
  site.finish("Expand", {site.input(0), site.integers("shape", site.call().integers("shape"))});
}

void transpose(const ExportSite& site) {
  site.finish("Transpose", site.inputs(), {{"perm", site.call().integers("perm")}});
}

void slice(const ExportSite& site) {
  const Shape &starts = site.call().integers("starts"), &sizes = site.call().integers("sizes");
  Shape steps = site.call().integers("steps", starts.size()), ends, axes;
  for (size_t i = 0; i < starts.size(); ++i) {
    long end = starts[i] + sizes[i] * steps[i];
    ends.push_back(end < 0 ? std::numeric_limits<int>::min() : end);
    axes.push_back(static_cast<long>(i));
  }
  site.finish("Slice", {site.input(0), site.integers("starts", starts), site.integers("ends", ends),
                        site.integers("axes", axes), site.integers("steps", steps)});
}

void take(const ExportSite& site) {
  site.finish("Gather", {site.input(0), site.integers("indices", site.call().integers("indices"))},
              {{"axis", site.call().integer("axis")}});
}

void pad(const ExportSite& site) {
  site.finish("Pad", {site.input(0), site.integers("pads", site.call().integers("pads")),
                      site.scalar("value", site.call().real("value"), site.call().element(0))});
}

void top_k(const ExportSite& site) {
  const Call& call = site.call();
  site.finish("TopK", {site.input(0), site.integers("k", {call.integer("k")})},
              {{"axis", call.integer("axis")},
               {"largest", call.integer("largest")},
               {"sorted", call.integer("sorted")}});
}

void one_hot(const ExportSite& site) {
  const Call& call = site.call();
  std::string depth =
      site.scalar("depth", static_cast<double>(call.integer("depth")), Element::i64);
  site.finish("OneHot", {site.input(0), depth, site.input(1)}, {{"axis", call.integer("axis")}});
}

Export scatter(const std::string& op) {
  return {[op](const ExportSite& site) {
            OnnxAttributes attributes{{"reduction", site.call().text("reduction")}};
            if (op == "ScatterElements") {
              attributes.emplace_back("axis", site.call().integer("axis"));
            }
            site.finish(op, site.inputs(), attributes);
          },
          18};
}

void compress(const ExportSite& site) {
  bool has_axis = site.call().integer("has_axis") == 1;
  site.finish("Compress", site.inputs(),
              has_axis ? OnnxAttributes{{"axis", site.call().integer("axis")}} : OnnxAttributes{});
}

void non_max_suppression(const ExportSite& site) {
  const Call& call = site.call();
  auto one = [&](const char* name, double value, Element element) {
    return site.scalar(name, value, element);
  };
  double score = call.real("score");
  bool limits = score != -std::numeric_limits<double>::infinity();
  site.finish(
      "NonMaxSuppression",
      {site.input(0), site.input(1),
       one("per_class", static_cast<double>(call.integer("per_class")), Element::i64),
       one("iou", call.real("iou"), Element::f32), limits ? one("score", score, Element::f32) : ""},
      {{"center_point_box", call.integer("centre")}});
}

// Quantised values: ONNX wants scales of one dimension, and the axis that they lie along.

struct Spread {
  bool fits;
  long axis;
  Shape shape;
};

Spread spread_of(const Shape& scale, size_t rank) {
  long axis = 1, count = 1;
  size_t wide = 0;
  for (size_t i = 0; i < scale.size(); ++i) {
    if (scale[i] == 1) continue;
    ++wide;
    axis = static_cast<long>(rank - scale.size() + i);
    count = scale[i];
  }
  if (scale.empty()) return {true, 1, {}};
  if (wide == 0) return {true, static_cast<long>(rank - scale.size()), {1}};
  return {wide == 1, axis, {count}};
}

Export quantised(const std::string& op) {
  return {[op](const ExportSite& site) {
    const Call& call = site.call();
    size_t spread_by = call.has(1) || !call.has(2) ? 1 : 2;
    Shape scale = call.has(spread_by) ? call.shape(spread_by) : Shape{};
    Spread spread = spread_of(scale, call.shape(0).size());
    if (!spread.fits) {
      fail("node '{}': ONNX has no scale of the shape {}", site.node().name, print_shape(scale));
    }
    auto flat = [&](size_t i) {
      if (site.input(i).empty() || call.shape(i) == spread.shape) return site.input(i);
      std::string shape = site.integers(fmt::format("shape{}", i), spread.shape);
      return site.between("Reshape", {site.input(i), shape});
    };
    auto ones = [&] {
      std::string one = site.scalar("scale", 1, Element::f32);
      if (spread.shape.empty()) return one;
      return site.between("Expand", {one, site.integers("shape", spread.shape)});
    };
    std::string scales = call.has(1) ? flat(1) : ones();
    site.finish(op, {site.input(0), scales, flat(2)}, {{"axis", spread.axis}});
  }};
}

void string_normalizer(const ExportSite& site) {
  const Call& call = site.call();
  site.finish("StringNormalizer", site.inputs(),
              {{"case_change_action", call.text("case_change")},
               {"is_case_sensitive", call.integer("is_case_sensitive")},
               {"stopwords", call.texts("stopwords")}});
}

void add_formulas(Exports& list) {
  for (const auto& [ours, theirs] :
       std::map<std::string, std::string>{{"abs", "Abs"},
                                          {"acos", "Acos"},
                                          {"acosh", "Acosh"},
                                          {"add", "Add"},
                                          {"asin", "Asin"},
                                          {"asinh", "Asinh"},
                                          {"atan", "Atan"},
                                          {"atanh", "Atanh"},
                                          {"ceil", "Ceil"},
                                          {"cos", "Cos"},
                                          {"cosh", "Cosh"},
                                          {"div", "Div"},
                                          {"equal", "Equal"},
                                          {"erf", "Erf"},
                                          {"exp", "Exp"},
                                          {"floor", "Floor"},
                                          {"greater", "Greater"},
                                          {"greater_equal", "GreaterOrEqual"},
                                          {"hard_swish", "HardSwish"},
                                          {"identity", "Identity"},
                                          {"is_nan", "IsNaN"},
                                          {"less", "Less"},
                                          {"less_equal", "LessOrEqual"},
                                          {"log", "Log"},
                                          {"logical_and", "And"},
                                          {"logical_not", "Not"},
                                          {"logical_or", "Or"},
                                          {"logical_xor", "Xor"},
                                          {"maximum", "Max"},
                                          {"minimum", "Min"},
                                          {"mod", "Mod"},
                                          {"mul", "Mul"},
                                          {"neg", "Neg"},
                                          {"pow", "Pow"},
                                          {"prelu", "PRelu"},
                                          {"reciprocal", "Reciprocal"},
                                          {"relu", "Relu"},
                                          {"round", "Round"},
                                          {"sigmoid", "Sigmoid"},
                                          {"sign", "Sign"},
                                          {"sin", "Sin"},
                                          {"sinh", "Sinh"},
                                          {"softplus", "Softplus"},
                                          {"softsign", "Softsign"},
                                          {"sqrt", "Sqrt"},
                                          {"sub", "Sub"},
                                          {"tan", "Tan"},
                                          {"tanh", "Tanh"},
                                          {"where", "Where"}}) {
    list.emplace(ours, renamed(theirs));
  }
  list.emplace("bit_and", renamed("BitwiseAnd", 18));
  list.emplace("bit_or", renamed("BitwiseOr", 18));
  list.emplace("bit_xor", renamed("BitwiseXor", 18));
  list.emplace("bit_not", renamed("BitwiseNot", 18));
  list.emplace("mish", renamed("Mish", 18));
  list.emplace("leaky_relu", with_settings("LeakyRelu", {{"alpha", "alpha"}}));
  list.emplace("thresholded_relu", with_settings("ThresholdedRelu", {{"alpha", "alpha"}}));
  list.emplace("elu", with_settings("Elu", {{"alpha", "alpha"}}));
  list.emplace("celu", with_settings("Celu", {{"alpha", "alpha"}}));
  list.emplace("selu", with_settings("Selu", {{"alpha", "alpha"}, {"gamma", "gamma"}}));
  list.emplace("swish", with_settings("Swish", {{"alpha", "alpha"}}, 24));
  list.emplace("hard_sigmoid",
               with_settings("HardSigmoid", {{"alpha", "alpha"}, {"beta", "beta"}}));
  list.emplace("shrink", with_settings("Shrink", {{"bias", "bias"}, {"lambda", "lambd"}}));
}

Exports all_exports() {
  Exports list{{"clip", {clip}},
               {"gelu", {gelu}},
               {"gelu_tanh", {gelu_tanh, 20}},
               {"rem", {rem}},
               {"shift_left", shift("LEFT")},
               {"shift_right", shift("RIGHT")},
               {"is_inf", {is_inf}},
               {"cast", {cast}},
               {"conv", {conv}},
               {"conv_transpose", {conv_transpose}},
               {"max_pool", {max_pool}},
               {"avg_pool", {avg_pool}},
               {"lp_pool", {lp_pool}},
               {"global_pool", renamed("GlobalAveragePool")},
               {"fully_connected", {fully_connected}},
               {"matmul", {matmul}},
               {"batch_norm", with_settings("BatchNormalization", {{"epsilon", "epsilon"}})},
               {"layer_norm", {layer_norm}},
               {"lrn", {lrn}},
               {"softmax", along_axis("Softmax")},
               {"log_softmax", along_axis("LogSoftmax")},
               {"hardmax", along_axis("Hardmax")},
               {"concat", along_axis("Concat")},
               {"gather", along_axis("Gather")},
               {"gather_elements", along_axis("GatherElements")},
               {"gather_nd", with_integers("GatherND", {{"batch_dims", "batch_dims"}})},
               {"arg_max", arg_extreme("ArgMax")},
               {"arg_min", arg_extreme("ArgMin")},
               {"cumsum", scan("CumSum", 0)},
               {"cumprod", scan("CumProd", 26)},
               {"det", renamed("Det")},
               {"reshape", {reshape}},
               {"expand", {expand}},
               {"transpose", {transpose}},
               {"slice", {slice}},
               {"take", {take}},
               {"pad", {pad}},
               {"top_k", {top_k}},
               {"one_hot", {one_hot}},
               {"scatter_elements", scatter("ScatterElements")},
               {"scatter_nd", scatter("ScatterND")},
               {"non_zero", renamed("NonZero")},
               {"compress", {compress}},
               {"non_max_suppression", {non_max_suppression}},
               {"reverse_sequence", with_integers("ReverseSequence", {{"batch_axis", "batch_axis"},
                                                                      {"time_axis", "time_axis"}})},
               {"quantize", quantised("QuantizeLinear")},
               {"dequantize", quantised("DequantizeLinear")},
               {"string_normalizer", {string_normalizer}}};
  list.emplace("einsum", Export{[](const ExportSite& site) {
                 site.finish("Einsum", site.inputs(), {{"equation", site.call().text("equation")}});
               }});
  for (const char* kind :
       {"Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"}) {
    std::string name = "reduce";
    for (const char* c = kind; *c != 0; ++c) {
      if (std::isupper(*c) != 0) name += '_';
      name += static_cast<char>(std::tolower(*c));
    }
    list.emplace(name, reduction(std::string("Reduce") + kind));
  }
  add_formulas(list);
  list.merge(sampling_exports());
  return list;
}

}  // namespace

const std::map<std::string, Export>& exports() {
  static const Exports all = all_exports();
  return all;
}

}  // namespace lathe
