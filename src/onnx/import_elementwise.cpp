// import_elementwise.cpp: ONNX's operators that treat each element alone.
#include <cmath>
#include <limits>

#include "onnx/site.h"

namespace lathe {
namespace {

/// Brings the second operand to where numpy would look for it: until operator set 6 an axis said
/// which dimension of the first its first one is.
ValueId aligned(const Site& site, ValueId first, ValueId second) {
  if (site.opset() >= 7 || site.integer("broadcast", 0) == 0 || !site.has_attribute("axis")) {
    return second;
  }
  Shape shape = site.shape_of(second);
  size_t rank = site.shape_of(first).size();
  size_t axis = site.axis(site.integer("axis", 0), rank);
  while (axis + shape.size() < rank) shape.push_back(1);
  return site.reshaped(second, shape);
}

Translation unary(const std::string& op) {
  return [op](const Site& site) { site.set_output(0, site.emit(op, {site.input(0)})); };
}

Translation binary(const std::string& op) {
  return [op](const Site& site) {
    ValueId first = site.input(0), second = aligned(site, first, site.input(1));
    site.set_output(0, site.emit(op, {first, second}));
  };
}

/// An operator of one operand whose attributes are called "names" by ONNX and by the formula.
Translation with_settings(const std::string& op,
                          const std::vector<std::tuple<std::string, std::string, double>>& names) {
  return [op, names](const Site& site) {
    Attributes attributes;
    for (const auto& [theirs, ours, otherwise] : names) {
      attributes[ours] = site.real(theirs, otherwise);
    }
    site.set_output(0, site.emit(op, {site.input(0)}, attributes));
  };
}

/// An operator of any number of operands, as a chain of one of two.
Translation chain(const std::string& op) {
  return [op](const Site& site) {
    ValueId result = site.input(0);
    for (size_t i = 1; i < site.inputs(); ++i) result = site.emit(op, {result, site.input(i)});
    if (site.inputs() == 1) result = site.emit("identity", {result});
    site.set_output(0, result);
  };
}

void mean(const Site& site) {
  ValueId sum = site.input(0);
  for (size_t i = 1; i < site.inputs(); ++i) sum = site.emit("add", {sum, site.input(i)});
  std::vector<double> count{static_cast<double>(site.inputs())};
  ValueId divisor = site.constant_value(Array::of_reals(site.element(0), {}, count));
  site.set_output(0, site.emit("div", {sum, divisor}));
}

/// Returns a bound of Clip, an attribute at first and an operand since operator set 11.
double bound(const Site& site, const std::string& name, size_t i, double otherwise) {
  if (site.opset() < 11) return site.real(name, otherwise);
  return site.has(i) ? site.required(i, name).real() : otherwise;
}

void clip(const Site& site) {
  double inf = std::numeric_limits<double>::infinity();
  bool known = (!site.has(1) || site.constant(1)) && (!site.has(2) || site.constant(2));
  if (site.opset() >= 11 && !known) {
    ValueId value = site.input(0);
    if (site.has(1)) value = site.emit("maximum", {value, site.input(1)});
    if (site.has(2)) value = site.emit("minimum", {value, site.input(2)});
    site.set_output(0, value);
    return;
  }
  double low = bound(site, "min", 1, -inf), high = bound(site, "max", 2, inf);
  // Where the bounds cross, the upper one wins.
  low = std::min(low, high);
  site.set_output(0, site.emit("clip", {site.input(0)}, {{"min", low}, {"max", high}}));
}

void cast_to(const Site& site, Element to) {
  if (to == Element::string || site.element(0) == Element::string) {
    site.unsupported("texts are not converted");
  }
  bool same = site.element(0) == to;
  site.set_output(0, same ? site.emit("identity", {site.input(0)}) : site.cast(site.input(0), to));
}

void cast(const Site& site) { cast_to(site, element_of_onnx(site.integer("to", 0), site.where())); }
void cast_like(const Site& site) { cast_to(site, site.element(1)); }

void bit_cast(const Site& site) {
  Element to = element_of_onnx(site.integer("to", 0), site.where());
  site.set_output(0, site.emit("bit_cast", {site.input(0)}, {{"to", std::string(name_of(to))}}));
}

void mod(const Site& site) {
  const char* op = site.integer("fmod", 0) == 1 ? "rem" : "mod";
  site.set_output(0, site.emit(op, {site.input(0), site.input(1)}));
}

void bit_shift(const Site& site) {
  const char* op = site.text("direction", "") == "LEFT" ? "shift_left" : "shift_right";
  site.set_output(0, site.emit(op, {site.input(0), site.input(1)}));
}

void pow(const Site& site) {
  ValueId exponent = aligned(site, site.input(0), site.input(1));
  site.set_output(0, site.emit("pow", {site.input(0), exponent}));
}

void prelu(const Site& site) {
  Shape slope = site.shape(1);
  size_t rank = site.shape(0).size();
  // Until operator set 6 a slope for each channel stood alone.
  bool per_channel = site.opset() < 7 && slope.size() == 1 && rank > 2;
  for (size_t i = 2; per_channel && i < rank; ++i) slope.push_back(1);
  site.set_output(0, site.emit("prelu", {site.input(0), site.reshaped(site.input(1), slope)}));
}

void gelu(const Site& site) {
  bool tanh = site.text("approximate", "none") == "tanh";
  site.set_output(0, site.emit(tanh ? "gelu_tanh" : "gelu", {site.input(0)}));
}

void is_inf(const Site& site) {
  Attributes attributes{{"positive", static_cast<double>(site.integer("detect_positive", 1))},
                        {"negative", static_cast<double>(site.integer("detect_negative", 1))}};
  site.set_output(0, site.emit("is_inf", {site.input(0)}, attributes));
}

/// At inference nothing is dropped.
void dropout(const Site& site) {
  auto training = site.constant(2), ratio = site.constant(1);
  if (site.has(2) && !training) site.unsupported("training_mode must be known");
  bool drops = training && training->integer() != 0 && !(ratio && ratio->real() == 0);
  if (drops) site.unsupported("dropping at random, as in training");
  site.set_output(0, site.emit("identity", {site.input(0)}));
  if (!site.wants(1)) return;
  std::vector<long> ones(static_cast<size_t>(site.storable(site.shape(0))), 1);
  Element mask = site.opset() < 10 ? site.element(0) : Element::boolean;
  site.set_output(1, site.constant_value(Array::of_integers(mask, site.shape(0), ones)));
}

/// scale * x + bias of the channel: an operator that the first exporters wrote.
void image_scaler(const Site& site) {
  std::vector<double> bias = site.reals("bias"), scale{site.real("scale", 1)};
  Shape shape(site.shape(0).size() < 2 ? 0 : site.shape(0).size() - 1, 1);
  if (shape.empty() || static_cast<long>(bias.size()) != site.shape(0)[1]) {
    site.wrong("its bias does not fit the channels");
  }
  shape[0] = site.shape(0)[1];
  ValueId factor = site.constant_value(Array::of_reals(site.element(0), {}, scale));
  ValueId shift = site.constant_value(Array::of_reals(site.element(0), shape, bias));
  ValueId scaled = site.emit("mul", {site.input(0), factor});
  site.set_output(0, site.emit("add", {scaled, shift}));
}

void where(const Site& site) {
  site.set_output(0, site.emit("where", {site.input(0), site.input(1), site.input(2)}));
}

}  // namespace

Translations elementwise_translations() {
  Translations list{{"Mean", mean},           {"Clip", clip},
                    {"Cast", cast},           {"CastLike", cast_like},
                    {"BitCast", bit_cast},    {"Mod", mod},
                    {"BitShift", bit_shift},  {"Pow", pow},
                    {"PRelu", prelu},         {"Gelu", gelu},
                    {"IsInf", is_inf},        {"Dropout", dropout},
                    {"Where", where},         {"ImageScaler", image_scaler},
                    {"Sum", chain("add")},    {"Max", chain("maximum")},
                    {"Min", chain("minimum")}};
  for (const auto& [theirs, ours] :
       std::map<std::string, std::string>{{"Abs", "abs"},           {"Acos", "acos"},
                                          {"Acosh", "acosh"},       {"Asin", "asin"},
                                          {"Asinh", "asinh"},       {"Atan", "atan"},
                                          {"Atanh", "atanh"},       {"Ceil", "ceil"},
                                          {"Cos", "cos"},           {"Cosh", "cosh"},
                                          {"Erf", "erf"},           {"Exp", "exp"},
                                          {"Floor", "floor"},       {"HardSwish", "hard_swish"},
                                          {"IsNaN", "is_nan"},      {"Log", "log"},
                                          {"Mish", "mish"},         {"Neg", "neg"},
                                          {"Not", "logical_not"},   {"Reciprocal", "reciprocal"},
                                          {"Relu", "relu"},         {"Round", "round"},
                                          {"Sigmoid", "sigmoid"},   {"Sign", "sign"},
                                          {"Sin", "sin"},           {"Sinh", "sinh"},
                                          {"Softplus", "softplus"}, {"Softsign", "softsign"},
                                          {"Sqrt", "sqrt"},         {"Tan", "tan"},
                                          {"Tanh", "tanh"},         {"BitwiseNot", "bit_not"}}) {
    list.emplace(theirs, unary(ours));
  }
  for (const auto& [theirs, ours] :
       std::map<std::string, std::string>{{"Add", "add"},
                                          {"Sub", "sub"},
                                          {"Mul", "mul"},
                                          {"Div", "div"},
                                          {"And", "logical_and"},
                                          {"Or", "logical_or"},
                                          {"Xor", "logical_xor"},
                                          {"Equal", "equal"},
                                          {"Less", "less"},
                                          {"LessOrEqual", "less_equal"},
                                          {"Greater", "greater"},
                                          {"GreaterOrEqual", "greater_equal"},
                                          {"BitwiseAnd", "bit_and"},
                                          {"BitwiseOr", "bit_or"},
                                          {"BitwiseXor", "bit_xor"}}) {
    list.emplace(theirs, binary(ours));
  }
  list.emplace("LeakyRelu", with_settings("leaky_relu", {{"alpha", "alpha", 0.01}}));
  list.emplace("Elu", with_settings("elu", {{"alpha", "alpha", 1}}));
  list.emplace("Celu", with_settings("celu", {{"alpha", "alpha", 1}}));
  list.emplace("Swish", with_settings("swish", {{"alpha", "alpha", 1}}));
  list.emplace("ThresholdedRelu", with_settings("thresholded_relu", {{"alpha", "alpha", 1}}));
  list.emplace("HardSigmoid",
               with_settings("hard_sigmoid", {{"alpha", "alpha", 0.2}, {"beta", "beta", 0.5}}));
  list.emplace("Selu", with_settings("selu", {{"alpha", "alpha", 1.6732632423543772},
                                              {"gamma", "gamma", 1.0507009873554805}}));
  list.emplace("Shrink", with_settings("shrink", {{"bias", "bias", 0}, {"lambd", "lambda", 0.5}}));
  return list;
}

}  // namespace lathe
