// import_quantised.cpp: ONNX's operators on integers that stand for numbers with a fraction.
#include <algorithm>

#include "onnx/import_window.h"

namespace lathe {
namespace {

/// Brings a scale or zero point to the shape of "like": one number, one for each part along an
/// axis, or one for each block of an axis.
ValueId spread(const Site& site, ValueId value, const Shape& like) {
  const Shape shape = site.shape_of(value);
  if (shape.empty()) return value;
  long block = site.integer("block_size", 0);
  size_t axis = site.axis(site.integer("axis", 1), std::max<size_t>(2, like.size()));
  if (shape.size() == 1 && (block == 0 || like.size() == 1)) {
    if (shape[0] == 1 && like.size() < 2) return site.reshaped(value, {});
    if (axis >= like.size()) site.wrong("its axis is none of its input");
    Shape aligned(like.size() - axis, 1);
    aligned[0] = shape[0];
    return site.reshaped(value, aligned);
  }
  if (block < 1 || shape.size() != like.size()) site.wrong("its scale does not fit");
  Shape indices;
  site.storable({like[axis]});
  for (long i = 0; i < like[axis]; ++i) indices.push_back(i / block);
  return site.emit("take", {value}, {{"axis", static_cast<long>(axis)}, {"indices", indices}});
}

Element quantised_type(const Site& site) {
  if (site.has(2)) return site.element(2);
  long type = site.integer("output_dtype", 0);
  if (type == 0) return Element::u8;
  return element_of_onnx(type, site.where());
}

void quantize(const Site& site) {
  Element to = quantised_type(site);
  ValueId scale = spread(site, site.input(1), site.shape(0));
  ValueId zero = site.has(2) ? spread(site, site.input(2), site.shape(0)) : no_value;
  ValueId value = site.input(0);
  if (site.element(0) != site.element(1)) value = site.cast(value, site.element(1));
  site.set_output(0,
                  site.emit("quantize", {value, scale, zero}, {{"to", std::string(name_of(to))}}));
}

void dequantize(const Site& site) {
  ValueId scale = spread(site, site.input(1), site.shape(0));
  ValueId zero = site.has(2) ? spread(site, site.input(2), site.shape(0)) : no_value;
  site.set_output(0, site.emit("dequantize", {site.input(0), scale, zero}));
}

/// Returns 8-bit integers less their zero point, which take 16 bits.
ValueId centred(const Site& site, ValueId value, ValueId zero) {
  ValueId wide = site.cast(value, Element::i16);
  if (zero == no_value) return wide;
  return site.emit("sub", {wide, site.cast(zero, Element::i16)});
}

const Attribute to_sums = std::string("i32");

/// Is a zero point left out, or known to be 0?
bool is_zero(const Site& site, ValueId zero) {
  if (zero == no_value) return true;
  auto known = site.constant_of(zero);
  if (!known) return false;
  std::vector<long> numbers = known->integers();
  return std::all_of(numbers.begin(), numbers.end(), [](long number) { return number == 0; });
}

/// Returns weights less their zero point, as narrow integers. None if they have one, and all is
/// known only when the network runs.
std::optional<ValueId> narrow(const Site& site, ValueId weights, ValueId zero) {
  if (is_zero(site, zero)) return weights;
  if (!site.constant_of(weights) || !site.constant_of(zero)) return std::nullopt;
  return centred(site, weights, zero);
}

/// Returns what all products have in common that the zero point of the data is in: that times the
/// sum of the weights over "axes".
ValueId of_zero(const Site& site, ValueId zero, ValueId weights, const Shape& axes) {
  ValueId sums =
      site.emit("reduce_sum", {weights}, {{"axes", axes}, {"keep", 0L}, {"to", to_sums}});
  return site.emit("mul", {site.cast(zero, Element::i32), sums});
}

/// The product of matrices (a - za) * b is a * b, less za times the sums of b's columns.
void matmul_integer(const Site& site) {
  ValueId za = site.optional_input(2), zb = site.optional_input(3);
  // A zero point for each row stands against columns.
  if (za != no_value && site.shape_of(za).size() == 1 && site.shape_of(za)[0] > 1) {
    za = site.reshaped(za, {site.shape_of(za)[0], 1});
  }
  bool can_take_out = site.shape(1).size() == 2 || is_zero(site, za);
  auto b = can_take_out ? narrow(site, site.input(1), zb) : std::nullopt;
  if (!b) {
    ValueId left = centred(site, site.input(0), za), right = centred(site, site.input(1), zb);
    return site.set_output(0, site.emit("matmul", {left, right}, {{"to", to_sums}}));
  }
  ValueId sums = site.emit("matmul", {site.input(0), *b}, {{"to", to_sums}});
  if (!is_zero(site, za)) sums = site.emit("sub", {sums, of_zero(site, za, *b, {0})});
  site.set_output(0, sums);
}

/// Returns a list of one number as that number.
ValueId as_number(const Site& site, ValueId value) {
  bool is_list = value != no_value && site.shape_of(value) == Shape{1};
  return is_list ? site.reshaped(value, {}) : value;
}

/// Operands 3 to 5 of the quantised products are those of b, 6 and 7 the scale and zero point of y.
void qlinear_matmul(const Site& site) {
  auto at = [&](size_t i) { return as_number(site, site.input(i)); };
  ValueId a = site.emit("dequantize", {site.input(0), at(1), at(2)});
  ValueId b = site.emit("dequantize", {site.input(3), at(4), at(5)});
  ValueId product = site.emit("matmul", {a, b});
  site.set_output(0, site.emit("quantize", {product, at(6), at(7)},
                               {{"to", std::string(name_of(site.element(7)))}}));
}

void dynamic_quantize(const Site& site) {
  Element element = site.element(0);
  auto constant = [&](double value) { return site.number(element, value); };
  Attributes all{{"axes", Shape{}}, {"keep", 0L}};
  ValueId zero = constant(0), x = site.input(0);
  ValueId high = site.emit("maximum", {site.emit("reduce_max", {x}, all), zero});
  ValueId low = site.emit("minimum", {site.emit("reduce_min", {x}, all), zero});
  ValueId scale = site.emit("div", {site.emit("sub", {high, low}), constant(255)});
  ValueId point = site.emit("div", {site.emit("neg", {low}), scale});
  point = site.emit("round", {site.emit("clip", {point}, {{"min", 0.0}, {"max", 255.0}})});
  ValueId zero_point = site.cast(point, Element::u8);
  site.set_output(0, site.emit("quantize", {x, scale, zero_point}, {{"to", std::string("u8")}}));
  site.set_output(1, scale);
  site.set_output(2, zero_point);
}

/// Brings one number for each filter to where it meets weights or outputs of this rank.
ValueId per_filter(const Site& site, ValueId value, size_t rank) {
  value = as_number(site, value);
  if (value == no_value || site.shape_of(value).size() != 1) return value;
  Shape shape(rank, 1);
  shape[0] = site.shape_of(value)[0];
  return site.reshaped(value, shape);
}

/// The padding holds the zero point of the data, which stands for 0. What it adds to the sums is
/// known, as weights are.
void conv_integer(const Site& site) {
  size_t rank = site.shape(1).size();
  ValueId za = as_number(site, site.optional_input(2));
  ValueId zw = per_filter(site, site.optional_input(3), rank);
  auto weights = narrow(site, site.input(1), zw);
  auto padding = za == no_value ? Array() : site.constant_of(za);
  if (!weights || !padding || padding->count() != 1 || rank < 3) {
    ValueId input = centred(site, site.input(0), za);
    return site.set_output(
        0, convolved(site, input, centred(site, site.input(1), zw), no_value, {{"to", to_sums}}));
  }
  ValueId sums = convolved(site, site.input(0), *weights, no_value,
                           {{"padding", padding->real()}, {"to", to_sums}});
  if (!is_zero(site, za)) {
    Shape axes;
    for (size_t d = 1; d < rank; ++d) axes.push_back(static_cast<long>(d));
    ValueId less = of_zero(site, za, *weights, axes);
    sums = site.emit("sub", {sums, per_filter(site, less, rank - 1)});
  }
  site.set_output(0, sums);
}

/// Says what is computed of the numbers that integers stand for. A pass computes it of the
/// integers.
void qlinear_conv(const Site& site) {
  size_t rank = site.shape(3).size();
  if (rank < 3) site.wrong("its weights have no kernel");
  ValueId x_scale = as_number(site, site.input(1)), w_scale = as_number(site, site.input(4));
  ValueId x = site.emit("dequantize", {site.input(0), x_scale, as_number(site, site.input(2))});
  ValueId w = site.emit("dequantize", {site.input(3), per_filter(site, w_scale, rank),
                                       per_filter(site, site.input(5), rank)});
  ValueId bias = site.optional_input(8);
  if (bias != no_value) {
    bias = site.emit("dequantize", {bias, site.emit("mul", {x_scale, w_scale})});
  }
  ValueId y = convolved(site, x, w, bias);
  site.set_output(
      0, site.emit("quantize", {y, as_number(site, site.input(6)), as_number(site, site.input(7))},
                   {{"to", std::string(name_of(site.element(7)))}}));
}

}  // namespace

Translations quantised_translations() {
  return {{"QuantizeLinear", quantize},
          {"DequantizeLinear", dequantize},
          {"MatMulInteger", matmul_integer},
          {"QLinearMatMul", qlinear_matmul},
          {"ConvInteger", conv_integer},
          {"QLinearConv", qlinear_conv},
          {"DynamicQuantizeLinear", dynamic_quantize}};
}

}  // namespace lathe
