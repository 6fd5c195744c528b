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

/// Returns a value as 32-bit integers less its zero point.
ValueId centred(const Site& site, ValueId value, ValueId zero) {
  ValueId wide = site.cast(value, Element::i32);
  if (zero == no_value) return wide;
  return site.emit("sub", {wide, site.cast(zero, Element::i32)});
}

void matmul_integer(const Site& site) {
  ValueId za = site.optional_input(2), zb = site.optional_input(3);
  // A zero point for each row stands against columns.
  if (za != no_value && site.shape_of(za).size() == 1 && site.shape_of(za)[0] > 1) {
    za = site.reshaped(za, {site.shape_of(za)[0], 1});
  }
  site.set_output(
      0, site.emit("matmul", {centred(site, site.input(0), za), centred(site, site.input(1), zb)}));
}

/// Operands 3 to 5 of the quantised products are those of b, 6 and 7 the scale and zero point of y.
void qlinear_matmul(const Site& site) {
  ValueId a = site.emit("dequantize", {site.input(0), site.input(1), site.input(2)});
  ValueId b = site.emit("dequantize", {site.input(3), site.input(4), site.input(5)});
  ValueId product = site.emit("matmul", {a, b});
  site.set_output(0, site.emit("quantize", {product, site.input(6), site.input(7)},
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
  if (value == no_value || site.shape_of(value).size() != 1) return value;
  Shape shape(rank, 1);
  shape[0] = site.shape_of(value)[0];
  return site.reshaped(value, shape);
}

void conv_integer(const Site& site) {
  ValueId zero = per_filter(site, site.optional_input(3), site.shape(1).size());
  site.set_output(0, convolved(site, centred(site, site.input(0), site.optional_input(2)),
                               centred(site, site.input(1), zero), no_value));
}

/// Sums are exact in integers; then one factor makes them the numbers that they stand for.
void qlinear_conv(const Site& site) {
  size_t rank = site.shape(3).size();
  if (rank < 3) site.wrong("its weights have no kernel");
  ValueId weight = centred(site, site.input(3), per_filter(site, site.input(5), rank));
  ValueId sums =
      convolved(site, centred(site, site.input(0), site.input(2)), weight, site.optional_input(8));
  ValueId scale = site.emit("mul", {site.input(1), per_filter(site, site.input(4), rank - 1)});
  ValueId product = site.emit("mul", {site.cast(sums, site.type_of(scale).element), scale});
  site.set_output(0, site.emit("quantize", {product, site.input(6), site.input(7)},
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
