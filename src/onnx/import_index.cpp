// import_index.cpp: ONNX's operators that pick elements: by indices, by order, by coordinates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/site.h"

namespace lathe {
namespace {

/// Known indices along a dimension are a part of the network; others are data.
void gather(const Site& site) {
  const Shape shape = site.shape(0);
  size_t axis = site.axis(site.integer("axis", 0), shape.size());
  auto indices = site.constant(1);
  bool data_is_known = site.constant_of(site.input(0)).has_value();
  if (!indices || data_is_known || indices->count() > 4096 || indices->count() == 0 ||
      site.state().known.contains(site.input(1))) {
    ValueId where = site.cast(site.input(1), Element::i64);
    site.set_output(
        0, site.emit("gather", {site.input(0), where}, {{"axis", static_cast<long>(axis)}}));
    return;
  }
  ValueId taken = site.emit("take", {site.input(0)},
                            {{"axis", static_cast<long>(axis)}, {"indices", indices->integers()}});
  Shape result(shape.begin(), shape.begin() + static_cast<long>(axis));
  result.insert(result.end(), indices->shape().begin(), indices->shape().end());
  result.insert(result.end(), shape.begin() + static_cast<long>(axis) + 1, shape.end());
  site.set_output(0, site.reshaped(taken, result));
}

/// Of the traditional operators, those that stand behind a classifier: a label by its index, and a
/// map from labels to scores, of which the scores come out.
void array_feature_extractor(const Site& site) {
  ValueId values = site.input(0), indices = site.cast(site.input(1), Element::i64);
  indices = site.reshaped(indices, {count_of(site.shape_of(indices))});
  Shape shape = site.shape_of(values);
  if (shape.empty()) site.wrong("its operand has no elements to choose from");
  if (shape.size() == 1) {
    shape.insert(shape.begin(), 1);
    values = site.reshaped(values, shape);
  }
  long axis = static_cast<long>(shape.size()) - 1;
  site.set_output(0, site.emit("gather", {values, indices}, {{"axis", axis}}));
}

void zip_map(const Site& site) { site.set_output(0, site.emit("identity", {site.input(0)})); }

void gather_elements(const Site& site) {
  ValueId indices = site.cast(site.input(1), Element::i64);
  site.set_output(0, site.emit("gather_elements", {site.input(0), indices},
                               {{"axis", site.integer("axis", 0)}}));
}

void gather_nd(const Site& site) {
  site.set_output(0, site.emit("gather_nd", {site.input(0), site.input(1)},
                               {{"batch_dims", site.integer("batch_dims", 0)}}));
}

void scatter_elements(const Site& site) {
  ValueId indices = site.cast(site.input(1), Element::i64);
  site.set_output(0, site.emit("scatter_elements", {site.input(0), indices, site.input(2)},
                               {{"axis", site.integer("axis", 0)},
                                {"reduction", site.text("reduction", "none")}}));
}

void scatter_nd(const Site& site) {
  site.set_output(0, site.emit("scatter_nd", {site.input(0), site.input(1), site.input(2)},
                               {{"reduction", site.text("reduction", "none")}}));
}

void top_k(const Site& site) {
  long k = site.opset() < 10 ? site.integer("k", 1) : site.required(1, "k").integer();
  std::vector<ValueId> results = site.emit_all("top_k", {site.input(0)},
                                               {{"k", k},
                                                {"axis", site.integer("axis", -1)},
                                                {"largest", site.integer("largest", 1)},
                                                {"sorted", site.integer("sorted", 1)}});
  site.set_output(0, results.at(0));
  site.set_output(1, results.at(1));
}

void one_hot(const Site& site) {
  long depth = site.required(1, "its depth").integer();
  ValueId indices = site.cast(site.input(0), Element::i64);
  site.set_output(0, site.emit("one_hot", {indices, site.input(2)},
                               {{"depth", depth}, {"axis", site.integer("axis", -1)}}));
}

void non_zero(const Site& site) { site.set_output(0, site.emit("non_zero", {site.input(0)})); }

void compress(const Site& site) {
  Attributes attributes;
  if (site.has_attribute("axis")) {
    attributes = {{"has_axis", 1L}, {"axis", site.integer("axis", 0)}};
  }
  site.set_output(0, site.emit("compress", {site.input(0), site.input(1)}, attributes));
}

void non_max_suppression(const Site& site) {
  auto number = [&](size_t i, const char* what, double otherwise) {
    return site.has(i) ? site.required(i, what).real() : otherwise;
  };
  double lowest = -std::numeric_limits<double>::infinity();
  Attributes attributes{
      {"per_class", static_cast<long>(number(2, "max_output_boxes_per_class", 0))},
      {"iou", number(3, "iou_threshold", 0)},
      {"score", number(4, "score_threshold", lowest)},
      {"centre", site.integer("center_point_box", 0)}};
  site.set_output(0, site.emit("non_max_suppression", {site.input(0), site.input(1)}, attributes));
}

void reverse_sequence(const Site& site) {
  ValueId lengths = site.cast(site.input(1), Element::i64);
  site.set_output(0, site.emit("reverse_sequence", {site.input(0), lengths},
                               {{"batch_axis", site.integer("batch_axis", 1)},
                                {"time_axis", site.integer("time_axis", 0)}}));
}

// Resize. Along each dimension the output is a mix of input elements that is known beforehand: one
// of them (a "take"), or a few (a product with a sparse matrix).

/// One dimension of a Resize.
struct Resampling {
  long from, to;
  double scale;
  double length;              ///< of the output, before it is rounded
  double begin = 0, end = 1;  ///< the region that tf_crop_and_resize reads
};

double unbounded_source(const Site& site, const std::string& mode, const Resampling& r, long i) {
  auto x = static_cast<double>(i);
  auto from = static_cast<double>(r.from), to = r.length;
  if (mode == "half_pixel") return (x + 0.5) / r.scale - 0.5;
  if (mode == "pytorch_half_pixel") return r.to > 1 ? (x + 0.5) / r.scale - 0.5 : 0;
  if (mode == "asymmetric") return x / r.scale;
  if (mode == "align_corners") return r.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode == "half_pixel_symmetric") {
    double adjustment = static_cast<double>(r.to) / to, centre = from / 2;
    return centre * (1 - adjustment) + (x + 0.5) / r.scale - 0.5;
  }
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / r.scale;
  if (mode == "tf_crop_and_resize") {
    if (r.to == 1) return 0.5 * (r.begin + r.end) * (from - 1);
    return r.begin * (from - 1) + x * (r.end - r.begin) * (from - 1) / (to - 1);
  }
  site.wrong(fmt::format("coordinate_transformation_mode '{}' is unknown", mode));
}

/// Returns the place in the input that output i is taken from. Places far outside are all the same.
double source_of(const Site& site, const std::string& mode, const Resampling& r, long i) {
  constexpr double most = 1L << 48;
  double x = unbounded_source(site, mode, r, i);
  return std::isnan(x) ? -most : std::clamp(x, -most, most);
}

long nearest(const Site& site, const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return static_cast<long>(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<long>(std::floor(x + 0.5));
  if (mode == "floor") return static_cast<long>(std::floor(x));
  if (mode == "ceil") return static_cast<long>(std::ceil(x));
  site.wrong(fmt::format("nearest_mode '{}' is unknown", mode));
}

double linear_weight(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }

double cubic_weight(double distance, double a) {
  double d = std::fabs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

struct Interpolation {
  std::string mode, coordinates;
  double cubic_a;
  bool excludes_outside, antialias;
};

/// Returns the matrix [to, from] that resamples one dimension.
Array resampling_matrix(const Site& site, const Interpolation& how, const Resampling& r,
                        Element element) {
  std::vector<double> matrix(static_cast<size_t>(site.storable({r.to, r.from})), 0);
  double stretch = how.antialias && r.scale < 1 ? r.scale : 1;
  double reach = (how.mode == "linear" ? 1 : 2) / stretch;
  for (long o = 0; o < r.to; ++o) {
    double x = source_of(site, how.coordinates, r, o), total = 0;
    auto first = static_cast<long>(std::floor(x - reach)),
         last = static_cast<long>(std::ceil(x + reach));
    for (long i = first; i <= last; ++i) {
      if (how.excludes_outside && (i < 0 || i >= r.from)) continue;
      double distance = (static_cast<double>(i) - x) * stretch;
      double weight =
          how.mode == "linear" ? linear_weight(distance) : cubic_weight(distance, how.cubic_a);
      matrix[static_cast<size_t>(o * r.from + std::clamp(i, 0L, r.from - 1))] += weight;
      total += weight;
    }
    bool normalises = (how.excludes_outside || how.antialias) && total != 0;
    for (long i = 0; i < r.from && normalises; ++i) {
      matrix[static_cast<size_t>(o * r.from + i)] /= total;
    }
  }
  return Array::of_reals(element, {r.to, r.from}, matrix);
}

/// Multiplies dimension "axis" of a tensor by a matrix.
ValueId multiplied(const Site& site, ValueId value, size_t axis, const Array& matrix) {
  const Shape shape = site.shape_of(value);
  ValueId m = site.constant_value(matrix);
  if (shape.size() >= 2 && axis == shape.size() - 2) return site.emit("matmul", {m, value});
  long outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) outer *= shape[i];
    if (i > axis) inner *= shape[i];
  }
  ValueId flat = site.reshaped(value, {outer, shape[axis], inner});
  Shape result = shape;
  result[axis] = matrix.shape()[0];
  return site.reshaped(site.emit("matmul", {m, flat}), result);
}

void resample(const Site& site, const std::vector<Resampling>& dims, const Interpolation& how,
              const std::string& nearest_mode, double outside) {
  ValueId value = site.input(0);
  std::vector<std::vector<bool>> inside(dims.size());
  for (size_t a = 0; a < dims.size(); ++a) {
    const Resampling& r = dims[a];
    bool crop = how.coordinates == "tf_crop_and_resize";
    if (r.from == r.to && r.scale == 1 && (!crop || (r.begin == 0 && r.end == 1))) continue;
    if (r.from == 0 || r.to == 0) site.unsupported("resizing of empty tensors");
    for (long o = 0; crop && o < r.to; ++o) {
      double x = source_of(site, how.coordinates, r, o);
      inside[a].push_back(x >= 0 && x <= static_cast<double>(r.from - 1));
    }
    if (how.mode == "nearest") {
      Shape indices;
      site.storable({r.to});
      for (long o = 0; o < r.to; ++o) {
        double x = source_of(site, how.coordinates, r, o);
        indices.push_back(std::clamp(nearest(site, nearest_mode, x), 0L, r.from - 1));
      }
      value = site.emit("take", {value}, {{"axis", static_cast<long>(a)}, {"indices", indices}});
    } else {
      value =
          multiplied(site, value, a, resampling_matrix(site, how, r, site.type_of(value).element));
    }
    bool all_inside = std::all_of(inside[a].begin(), inside[a].end(), [](bool b) { return b; });
    if (all_inside) continue;
    Shape shape(dims.size() - a, 1);
    shape[0] = r.to;
    std::vector<long> mask(inside[a].begin(), inside[a].end());
    ValueId is_inside = site.constant_value(Array::of_integers(Element::boolean, shape, mask));
    std::vector<double> fill{outside};
    ValueId other = site.constant_value(Array::of_reals(site.type_of(value).element, {}, fill));
    value = site.emit("where", {is_inside, value, other});
  }
  site.set_output(0, value == site.input(0) ? site.emit("identity", {value}) : value);
}

constexpr long most_resized = 1L << 20;

void resize(const Site& site) {
  const Shape shape = site.shape(0);
  size_t first = site.opset() < 11 ? 1 : 2;  // the operand that holds the scales
  std::vector<double> scales;
  Shape sizes, axes = site.integers("axes");
  if (site.has(first)) scales = site.required(first, "its scales").reals();
  if (site.has(3)) sizes = site.required(3, "its sizes").integers();
  if (axes.empty()) {
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(static_cast<long>(i));
  }
  size_t given = sizes.empty() ? scales.size() : sizes.size();
  if (given != axes.size()) site.wrong("its scales or sizes do not fit");
  std::vector<double> region;
  if (site.opset() >= 11 && site.has(1)) region = site.required(1, "its region").reals();
  std::string policy = site.text("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (size_t i = 0; !sizes.empty() && policy != "stretch" && i < axes.size(); ++i) {
    double scale = static_cast<double>(sizes[i]) /
                   static_cast<double>(shape[site.axis(axes[i], shape.size())]);
    bool larger = policy == "not_larger" ? scale < common : scale > common;
    if (i == 0 || larger) common = scale;
  }
  std::vector<Resampling> dims;
  for (long extent : shape) dims.push_back({extent, extent, 1, static_cast<double>(extent)});
  for (size_t i = 0; i < axes.size(); ++i) {
    Resampling& r = dims[site.axis(axes[i], shape.size())];
    auto from = static_cast<double>(r.from);
    if (sizes.empty()) {
      r.scale = scales[i];
      r.to = static_cast<long>(std::floor(from * scales[i]));
      r.length = from * scales[i];
    } else if (policy != "stretch") {
      r.scale = common;
      r.to = static_cast<long>(std::floor(from * common + 0.5));
      r.length = static_cast<double>(r.to);
    } else {
      r.scale = static_cast<double>(sizes[i]) / from;
      r.to = sizes[i];
      r.length = static_cast<double>(r.to);
    }
    if (!(r.scale > 0) || r.to < 0 || r.to > most_resized) site.wrong("a scale is out of range");
    if (region.size() == 2 * axes.size()) {
      r.begin = region[i];
      r.end = region[i + axes.size()];
    }
  }
  std::string old = site.opset() < 11 ? "asymmetric" : "half_pixel";
  Interpolation how{site.text("mode", "nearest"), site.text("coordinate_transformation_mode", old),
                    site.real("cubic_coeff_a", -0.75), site.integer("exclude_outside", 0) == 1,
                    site.integer("antialias", 0) == 1};
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic") {
    site.unsupported(fmt::format("mode '{}'", how.mode));
  }
  std::string rounding =
      site.text("nearest_mode", site.opset() < 11 ? "floor" : "round_prefer_floor");
  resample(site, dims, how, rounding, site.real("extrapolation_value", 0));
}

void upsample(const Site& site) {
  // An attribute until operator set 8, an operand in 9.
  std::vector<double> scales;
  if (site.has_attribute("scales")) {
    scales = site.reals("scales");
  } else {
    scales = site.required(1, "its scales").reals();
  }
  std::vector<Resampling> dims;
  if (scales.size() != site.shape(0).size()) site.wrong("its scales do not fit");
  for (size_t i = 0; i < scales.size(); ++i) {
    long from = site.shape(0)[i];
    if (!(scales[i] > 0 && scales[i] < 1e6)) site.wrong("a scale is out of range");
    double length = static_cast<double>(from) * scales[i];
    if (length > most_resized) site.wrong("a scale is out of range");
    dims.push_back({from, static_cast<long>(std::floor(length)), scales[i], length});
  }
  Interpolation how{site.text("mode", "nearest"), "asymmetric", -0.75, false, false};
  if (how.mode == "bilinear") how.mode = "linear";
  resample(site, dims, how, "floor", 0);
}

void string_normalizer(const Site& site) {
  site.set_output(0, site.emit("string_normalizer", {site.input(0)},
                               {{"case_change", site.text("case_change_action", "NONE")},
                                {"is_case_sensitive", site.integer("is_case_sensitive", 0)},
                                {"stopwords", site.texts("stopwords")}}));
}

void unique(const Site& site) {
  Attributes attributes{{"sorted", site.integer("sorted", 1)}};
  if (site.has_attribute("axis")) {
    attributes["flat"] = 0L;
    attributes["axis"] = site.integer("axis", 0);
  }
  std::vector<ValueId> results = site.emit_all("unique", {site.input(0)}, attributes);
  for (size_t i = 0; i < results.size(); ++i) site.set_output(i, results[i]);
}

}  // namespace

Translations index_translations() {
  return {{"Gather", gather},
          {"GatherElements", gather_elements},
          {"ai.onnx.ml:ArrayFeatureExtractor", array_feature_extractor},
          {"ai.onnx.ml:ZipMap", zip_map},
          {"GatherND", gather_nd},
          {"Scatter", scatter_elements},
          {"ScatterElements", scatter_elements},
          {"ScatterND", scatter_nd},
          {"TopK", top_k},
          {"OneHot", one_hot},
          {"NonZero", non_zero},
          {"Unique", unique},
          {"Compress", compress},
          {"NonMaxSuppression", non_max_suppression},
          {"ReverseSequence", reverse_sequence},
          {"Resize", resize},
          {"Upsample", upsample},
          {"StringNormalizer", string_normalizer}};
}

}  // namespace lathe
