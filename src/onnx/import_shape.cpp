// import_shape.cpp: ONNX's operators that move or rename data, and those that make shapes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/site.h"

namespace lathe {
namespace {

void reshape(const Site& site) {
  Shape shape = site.integers_or_input("shape", 1).value_or(Shape{});
  const Shape& from = site.shape(0);
  long known = 1, unknown = -1;
  bool keeps_zeros = site.integer("allowzero", 0) == 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !keeps_zeros) {
      if (i >= from.size()) site.wrong("its shape copies a dimension that there is not");
      shape[i] = from[i];
    }
    if (shape[i] == -1) {
      if (unknown >= 0) site.wrong("its shape leaves two dimensions open");
      unknown = static_cast<long>(i);
    } else {
      if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
        site.wrong(fmt::format("{} does not fit {}", print_attribute(shape), print_shape(from)));
      }
    }
  }
  if (unknown >= 0) {
    long count = count_of(from);
    if (known <= 0 || count % known != 0) {
      site.wrong(fmt::format("{} does not fit {}", print_attribute(shape), print_shape(from)));
    }
    shape[static_cast<size_t>(unknown)] = count / known;
  }
  site.set_output(0, site.emit("reshape", {site.input(0)}, {{"shape", shape}}));
}

void flatten(const Site& site) {
  const Shape& shape = site.shape(0);
  auto rank = static_cast<long>(shape.size());
  long axis = site.integer("axis", 1);
  if (axis < -rank || axis > rank) site.wrong(fmt::format("axis {} is none", axis));
  if (axis < 0) axis += rank;
  long outer = 1, inner = 1;
  for (long i = 0; i < rank; ++i) (i < axis ? outer : inner) *= shape[static_cast<size_t>(i)];
  site.set_output(0, site.emit("reshape", {site.input(0)}, {{"shape", Shape{outer, inner}}}));
}

void squeeze(const Site& site) {
  const Shape& shape = site.shape(0);
  auto axes = site.integers_or_input("axes", 1);
  std::set<size_t> dropped;
  for (long a : axes.value_or(Shape{})) dropped.insert(site.axis(a, shape.size()));
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool drops = axes ? dropped.contains(i) : shape[i] == 1;
    if (drops && shape[i] != 1) site.wrong(fmt::format("dimension {} is not 1", i));
    if (!drops) result.push_back(shape[i]);
  }
  site.set_output(0, site.emit("reshape", {site.input(0)}, {{"shape", result}}));
}

void unsqueeze(const Site& site) {
  Shape axes = site.integers_or_input("axes", 1).value_or(Shape{}), result = site.shape(0);
  size_t rank = result.size() + axes.size();
  std::set<size_t> added;
  for (long a : axes) added.insert(site.axis(a, rank));
  if (added.size() != axes.size()) site.wrong("an axis appears twice");
  for (size_t a : added) result.insert(result.begin() + static_cast<long>(a), 1);
  site.set_output(0, site.emit("reshape", {site.input(0)}, {{"shape", result}}));
}

void transpose(const Site& site) {
  Shape perm = site.integers("perm");
  if (!site.has_attribute("perm")) {
    for (size_t i = site.shape(0).size(); i-- > 0;) perm.push_back(static_cast<long>(i));
  }
  site.set_output(0, site.emit("transpose", {site.input(0)}, {{"perm", perm}}));
}

void concat(const Site& site) {
  long axis = site.integer("axis", 1);
  axis = static_cast<long>(site.axis(axis, site.shape(0).size()));
  site.set_output(0, site.emit("concat", site.all_inputs(), {{"axis", axis}}));
}

void split(const Site& site) {
  const Shape shape = site.shape(0);
  size_t axis = site.axis(site.integer("axis", 0), shape.size());
  auto sizes = site.integers_or_input("split", 1);
  if (site.outputs() == 0) site.wrong("it has no outputs");
  if (!sizes || sizes->empty()) {
    auto parts = static_cast<long>(site.outputs());
    long each = (shape[axis] + parts - 1) / parts;
    sizes = Shape(static_cast<size_t>(parts), each);
    sizes->back() = shape[axis] - each * (parts - 1);
  }
  long start = 0;
  for (size_t i = 0; i < site.outputs(); ++i) {
    if (i >= sizes->size() || (*sizes)[i] < 0 || (*sizes)[i] > shape[axis] - start) {
      site.wrong("its parts do not fit");
    }
    site.set_output(i, site.sliced(site.input(0), axis, start, (*sizes)[i]));
    start += (*sizes)[i];
  }
}

/// Returns where a slice begins and how many elements it has: ONNX clamps both ends.
std::pair<long, long> clamped(long start, long end, long step, long extent) {
  if (start < 0) start = std::max(start + extent, step > 0 ? 0L : -1L);
  if (end < 0) end = std::max(end + extent, step > 0 ? 0L : -1L);
  if (step > 0) {
    start = std::min(start, extent);
    end = std::min(end, extent);
    return {start, end > start ? (end - start + step - 1) / step : 0};
  }
  start = std::min(start, extent - 1);
  end = std::min(end, extent - 1);
  return {start, start > end ? (start - end - step - 1) / -step : 0};
}

void slice(const Site& site) {
  const Shape& shape = site.shape(0);
  bool operands = site.opset() >= 10;
  Shape from = operands ? site.required(1, "starts").integers() : site.integers("starts");
  Shape to = operands ? site.required(2, "ends").integers() : site.integers("ends");
  Shape axes =
      operands && site.has(3) ? site.required(3, "axes").integers() : site.integers("axes");
  Shape by = operands && site.has(4) ? site.required(4, "steps").integers() : Shape{};
  if (axes.empty()) {
    for (size_t i = 0; i < from.size(); ++i) axes.push_back(static_cast<long>(i));
  }
  if (by.empty()) by.assign(from.size(), 1);
  if (to.size() != from.size() || axes.size() != from.size() || by.size() != from.size()) {
    site.wrong("starts, ends, axes and steps differ in length");
  }
  Shape starts(shape.size(), 0), sizes = shape, steps(shape.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t a = site.axis(axes[i], shape.size());
    if (by[i] == 0) site.wrong("a step is 0");
    long most = std::numeric_limits<int>::max();
    steps[a] = std::clamp(by[i], -most, most);
    std::tie(starts[a], sizes[a]) = clamped(from[i], to[i], steps[a], shape[a]);
    if (sizes[a] == 0) starts[a] = 0;
    if (sizes[a] <= 1) steps[a] = 1;
  }
  site.set_output(0, site.emit("slice", {site.input(0)},
                               {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}));
}

ValueId taken(const Site& site, ValueId value, size_t axis, const Shape& indices) {
  return site.emit("take", {value}, {{"axis", static_cast<long>(axis)}, {"indices", indices}});
}

/// Returns the index that "mode" puts at place "i", which may lie outside.
long wrapped_index(const Site& site, const std::string& mode, long i, long extent) {
  if (i >= 0 && i < extent) return i;
  if (mode == "edge") return std::clamp(i, 0L, extent - 1);
  if (mode == "wrap") return ((i % extent) + extent) % extent;
  if (mode != "reflect") site.wrong(fmt::format("mode '{}' is unknown", mode));
  if (extent == 1) return 0;
  long period = 2 * (extent - 1);
  i = ((i % period) + period) % period;
  return i < extent ? i : period - i;
}

constexpr long most_pad = 1L << 45;  // more than any tensor has elements, and sums do not overflow

void pad(const Site& site) {
  const Shape shape = site.shape(0);
  size_t rank = shape.size();
  Shape given = site.has_attribute("paddings")
                    ? site.integers("paddings")
                    : site.integers_or_input("pads", 1).value_or(Shape{});
  double value = site.real("value", 0);
  if (site.opset() >= 11) value = site.has(2) ? site.required(2, "its value").real() : 0;
  Shape axes = site.has(3) ? site.required(3, "axes").integers() : Shape{};
  if (axes.empty() && !site.has(3)) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<long>(i));
  }
  if (given.size() != 2 * axes.size()) site.wrong("its pads do not fit");
  Shape pads(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t a = site.axis(axes[i], rank);
    pads[a] = given[i];
    pads[a + rank] = given[i + axes.size()];
  }
  std::string mode = site.text("mode", "constant");
  ValueId result = site.input(0);
  for (long p : pads) {
    if (p < -most_pad || p > most_pad) site.wrong(fmt::format("a pad of {} is out of range", p));
  }
  if (mode != "constant") {
    for (size_t a = 0; a < rank; ++a) {
      if (pads[a] == 0 && pads[a + rank] == 0) continue;
      if (shape[a] == 0) site.wrong("nothing can be repeated of an empty dimension");
      Shape indices;
      site.storable({std::max(0L, pads[a] + shape[a] + pads[a + rank])});
      for (long i = -pads[a]; i < shape[a] + pads[a + rank]; ++i) {
        indices.push_back(wrapped_index(site, mode, i, shape[a]));
      }
      result = taken(site, result, a, indices);
    }
    site.set_output(0, result == site.input(0) ? site.emit("identity", {result}) : result);
    return;
  }
  Shape starts(rank, 0), sizes = shape;
  bool cuts = false;
  for (size_t a = 0; a < rank; ++a) {
    starts[a] = std::max(0L, -pads[a]);
    sizes[a] -= starts[a] + std::max(0L, -pads[a + rank]);
    cuts = cuts || pads[a] < 0 || pads[a + rank] < 0;
  }
  if (cuts) result = site.emit("slice", {result}, {{"starts", starts}, {"sizes", sizes}});
  for (long& p : pads) p = std::max(0L, p);
  site.set_output(0, site.emit("pad", {result}, {{"pads", pads}, {"value", value}}));
}

void expand(const Site& site) {
  Shape shape = site.required(1, "its shape").integers(), from = site.shape(0);
  // Both broadcast: the operand may be larger than what is asked for.
  if (shape.size() < from.size()) shape.insert(shape.begin(), from.size() - shape.size(), 1);
  size_t skipped = shape.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (shape[skipped + i] == 1) shape[skipped + i] = from[i];
  }
  site.set_output(0, site.emit("expand", {site.input(0)}, {{"shape", shape}}));
}

void tile(const Site& site) {
  Shape shape = site.shape(0), repeats;
  if (site.opset() < 6) {
    repeats.assign(shape.size(), 1);
    size_t axis = site.axis(site.required(2, "its axis").integer(), shape.size());
    repeats[axis] = site.required(1, "its repeats").integer();
  } else {
    repeats = site.required(1, "its repeats").integers();
  }
  if (repeats.size() != shape.size()) site.wrong("its repeats do not fit");
  // Every dimension gets one before it, which is expanded and joined with it again.
  Shape apart, expanded, joined;
  for (size_t a = 0; a < shape.size(); ++a) {
    bool fits = repeats[a] >= 0 && repeats[a] <= (1L << 24) / std::max(1L, shape[a]);
    if (!fits) site.wrong("it repeats too often");
    apart.insert(apart.end(), {1, shape[a]});
    expanded.insert(expanded.end(), {repeats[a], shape[a]});
    joined.push_back(repeats[a] * shape[a]);
  }
  ValueId parts = site.emit("expand", {site.reshaped(site.input(0), apart)}, {{"shape", expanded}});
  site.set_output(0, site.emit("reshape", {parts}, {{"shape", joined}}));
}

void shape(const Site& site) {
  const Shape& full = site.shape(0);
  auto rank = static_cast<long>(full.size());
  auto bound = [&](const char* name, long otherwise) {
    long value = site.integer(name, otherwise);
    return std::clamp(value < 0 ? value + rank : value, 0L, rank);
  };
  long start = bound("start", 0), end = std::max(start, bound("end", rank));
  Shape part(full.begin() + start, full.begin() + end);
  Array data = Array::of_integers(Element::i64, {static_cast<long>(part.size())}, part);
  site.set_output(0, site.constant_value(data));
}

void size(const Site& site) {
  std::vector<long> count{count_of(site.shape(0))};
  site.set_output(0, site.constant_value(Array::of_integers(Element::i64, {}, count)));
}

void constant(const Site& site) {
  auto values = [&](Element element, Shape shape, auto list) {
    if constexpr (std::is_same_v<decltype(list), Shape>) {
      return Array::of_integers(element, std::move(shape), list);
    } else {
      return Array::of_reals(element, std::move(shape), list);
    }
  };
  for (const auto& attribute : site.node().attribute()) {
    const std::string& name = attribute.name();
    std::optional<Array> data;
    if (name == "value") data = site.tensor("value");
    if (name == "value_int") data = values(Element::i64, {}, Shape{attribute.i()});
    if (name == "value_ints") {
      data = values(Element::i64, {attribute.ints_size()}, site.integers(name));
    }
    if (name == "value_float") {
      data = values(Element::f32, {}, std::vector<double>{attribute.f()});
    }
    if (name == "value_floats") {
      std::vector<double> list(attribute.floats().begin(), attribute.floats().end());
      data = values(Element::f32, {attribute.floats_size()}, list);
    }
    if (name == "value_string") data = Array::of_strings({}, {attribute.s()});
    if (name == "value_strings") {
      std::vector<std::string> list = site.texts(name);
      data = Array::of_strings({static_cast<long>(list.size())}, list);
    }
    if (!data) continue;
    site.set_output(0, site.constant_value(*data));
    return;
  }
  site.unsupported("a constant that is no tensor");
}

void constant_of_shape(const Site& site) {
  Shape shape = site.required(0, "its shape").integers();
  Array value = site.tensor("value").value_or(Array(Element::f32, {1}));
  if (value.count() != 1) site.wrong("its value must be one number");
  ValueId one = site.constant_value(value.with_shape({}));
  site.set_output(0, site.emit("expand", {one}, {{"shape", shape}}));
}

void range(const Site& site) {
  Array start = site.required(0, "start"), limit = site.required(1, "limit"),
        delta = site.required(2, "delta");
  if (start.count() != 1 || limit.count() != 1 || delta.count() != 1 || delta.real() == 0) {
    site.wrong("start, limit and delta must be single numbers, and delta not 0");
  }
  double steps = std::ceil((limit.real() - start.real()) / delta.real());
  if (!(steps < static_cast<double>(1L << 24))) site.wrong("the range is too long");
  long count = steps > 0 ? static_cast<long>(steps) : 0;
  site.storable({count});
  std::vector<double> reals;
  std::vector<long> integers;
  for (long i = 0; i < count; ++i) {
    if (is_float(start.element())) {
      reals.push_back(start.real() + static_cast<double>(i) * delta.real());
    } else {
      // What does not fit wraps, as in the type itself.
      integers.push_back(
          static_cast<long>(static_cast<uint64_t>(start.integer()) +
                            static_cast<uint64_t>(i) * static_cast<uint64_t>(delta.integer())));
    }
  }
  Element element = start.element();
  Array data = is_float(element) ? Array::of_reals(element, {count}, reals)
                                 : Array::of_integers(element, {count}, integers);
  site.set_output(0, site.constant_value(data));
}

void eye_like(const Site& site) {
  const Shape& like = site.shape(0);
  if (like.size() != 2) site.wrong("its operand is no matrix");
  long k = site.integer("k", 0);
  Element element = site.has_attribute("dtype")
                        ? element_of_onnx(site.integer("dtype", 1), site.where())
                        : site.element(0);
  std::vector<long> values(static_cast<size_t>(site.storable(like)), 0);
  bool crosses = k > -like[0] && k < like[1];  // else the diagonal lies beside the matrix
  for (long i = std::max(0L, -k); crosses && i < like[0] && i + k < like[1]; ++i) {
    values[static_cast<size_t>(i * like[1] + i + k)] = 1;
  }
  site.set_output(0, site.constant_value(Array::of_integers(element, like, values)));
}

void trilu(const Site& site) {
  const Shape shape = site.shape(0);
  if (shape.size() < 2) site.wrong("its operand is no matrix");
  long rows = shape[shape.size() - 2], columns = shape.back();
  long k = site.has(1) ? site.required(1, "k").integer() : 0;
  bool upper = site.integer("upper", 1) == 1;
  std::vector<long> mask;
  long count = site.storable({rows, columns});
  for (long i = 0; i < count; ++i) {
    long distance = i % columns - i / columns;
    mask.push_back((upper ? distance >= k : distance <= k) ? 1 : 0);
  }
  ValueId keeps = site.constant_value(Array::of_integers(Element::boolean, {rows, columns}, mask));
  ValueId zero = site.constant_value(Array(site.element(0), {}));
  site.set_output(0, site.emit("where", {keeps, site.input(0), zero}));
}

constexpr long most_block = 1L << 15;

void depth_to_space(const Site& site) {
  const Shape s = site.shape(0);
  long b = site.integer("blocksize", 1);
  if (s.size() != 4 || b < 1 || b > most_block || s[1] % (b * b) != 0) {
    site.wrong("its blocks do not fit");
  }
  long c = s[1] / (b * b);
  bool column_first = site.text("mode", "DCR") == "CRD";
  Shape split = column_first ? Shape{s[0], c, b, b, s[2], s[3]} : Shape{s[0], b, b, c, s[2], s[3]};
  Shape perm = column_first ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2};
  ValueId blocks = site.transposed(site.reshaped(site.input(0), split), perm);
  site.set_output(0, site.reshaped(blocks, {s[0], c, s[2] * b, s[3] * b}));
}

void space_to_depth(const Site& site) {
  const Shape s = site.shape(0);
  long b = site.integer("blocksize", 1);
  if (s.size() != 4 || b < 1 || b > most_block || s[2] % b != 0 || s[3] % b != 0) {
    site.wrong("its blocks do not fit");
  }
  ValueId blocks = site.reshaped(site.input(0), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  blocks = site.transposed(blocks, {0, 3, 5, 1, 2, 4});
  site.set_output(0, site.reshaped(blocks, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

void centre_crop_pad(const Site& site) {
  Shape wanted = site.required(1, "its shape").integers(), axes = site.integers("axes");
  const Shape from = site.shape(0);
  if (axes.empty()) {
    for (size_t i = 0; i < from.size(); ++i) axes.push_back(static_cast<long>(i));
  }
  if (wanted.size() != axes.size()) site.wrong("its shape does not fit");
  Shape starts(from.size(), 0), sizes = from, pads(2 * from.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t a = site.axis(axes[i], from.size());
    if (wanted[i] < 0) site.wrong("its shape does not fit");
    long extra = wanted[i] - from[a];
    if (extra < 0) {
      starts[a] = -extra / 2;
      sizes[a] = wanted[i];
    } else {
      pads[a] = extra / 2;
      pads[a + from.size()] = extra - extra / 2;
    }
  }
  ValueId cut = site.emit("slice", {site.input(0)}, {{"starts", starts}, {"sizes", sizes}});
  site.set_output(0, site.emit("pad", {cut}, {{"pads", pads}}));
}

}  // namespace

Translations shape_translations() {
  return {{"Reshape", reshape},
          {"Flatten", flatten},
          {"Squeeze", squeeze},
          {"Unsqueeze", unsqueeze},
          {"Transpose", transpose},
          {"Concat", concat},
          {"Split", split},
          {"Slice", slice},
          {"Pad", pad},
          {"Expand", expand},
          {"Tile", tile},
          {"Shape", shape},
          {"Size", size},
          {"Constant", constant},
          {"ConstantOfShape", constant_of_shape},
          {"Range", range},
          {"EyeLike", eye_like},
          {"Trilu", trilu},
          {"DepthToSpace", depth_to_space},
          {"SpaceToDepth", space_to_depth},
          {"CenterCropPad", centre_crop_pad}};
}

}  // namespace lathe
