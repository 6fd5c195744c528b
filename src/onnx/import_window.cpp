// import_window.cpp: ONNX's operators with a sliding window, and normalisations.
#include <algorithm>
#include <cmath>

#include "onnx/import_window.h"

namespace lathe {
namespace {

/// The attributes that all windows share, with "auto_pad" worked out.
struct Windowed {
  Shape kernel, strides, dilations, pads;
};

constexpr long most_extent = 1L << 30;

Shape or_all(const Site& site, const std::string& name, size_t count, long otherwise) {
  Shape list = site.integers(name);
  return list.empty() ? Shape(count, otherwise) : list;
}

/// Refuses lists of the wrong length, and numbers so large that sums of them overflow.
void check_windowed(const Site& site, const Windowed& w) {
  const Shape& input = site.shape(0);
  size_t dims = w.kernel.size();
  bool fits = input.size() == dims + 2 && w.strides.size() == dims && w.dilations.size() == dims &&
              w.pads.size() == 2 * dims;
  if (!fits) site.wrong(fmt::format("its attributes do not fit an input {}", print_shape(input)));
  for (const Shape* list : {&w.kernel, &w.strides, &w.dilations, &w.pads}) {
    for (long x : *list) {
      if (x < -most_extent || x > most_extent) site.wrong(fmt::format("{} is out of range", x));
    }
  }
}

/// Pads so that there is an output for every stride-th input; an odd element goes to one side.
void pad_same(const Site& site, const Shape& input, bool upper, Windowed& w) {
  size_t dims = w.kernel.size();
  for (size_t i = 0; i < dims; ++i) {
    if (w.strides[i] < 1) site.wrong("a stride is less than 1");
    long outputs = (input[i + 2] + w.strides[i] - 1) / w.strides[i];
    long span = (outputs - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
    long total = std::max(0L, span - input[i + 2]);
    w.pads[i] = upper ? total / 2 : total - total / 2;
    w.pads[i + dims] = total - w.pads[i];
  }
}

Windowed windowed(const Site& site, Shape kernel) {
  const Shape& input = site.shape(0);
  if (input.size() < 3) site.wrong("its input has no dimension to slide over");
  size_t dims = input.size() - 2;
  Windowed w{std::move(kernel), or_all(site, "strides", dims, 1),
             or_all(site, "dilations", dims, 1), or_all(site, "pads", 2 * dims, 0)};
  check_windowed(site, w);
  std::string mode = site.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_same(site, input, mode == "SAME_UPPER", w);
  } else if (mode == "VALID") {
    w.pads.assign(2 * dims, 0);
  } else if (mode != "NOTSET") {
    site.wrong(fmt::format("auto_pad is '{}'", mode));
  }
  return w;
}

Attributes attributes_of(const Windowed& w) {
  return {{"strides", w.strides}, {"dilations", w.dilations}, {"pads", w.pads}};
}

/// Padding that is negative cuts the input.
ValueId cut(const Site& site, ValueId input, Windowed& w) {
  const Shape shape = site.shape_of(input);
  Shape starts(shape.size(), 0), sizes = shape;
  bool any = false;
  size_t dims = w.kernel.size();
  for (size_t i = 0; i < dims; ++i) {
    long before = std::min(0L, w.pads[i]), after = std::min(0L, w.pads[i + dims]);
    any = any || before < 0 || after < 0;
    starts[i + 2] -= before;
    sizes[i + 2] += before + after;
    w.pads[i] = std::max(0L, w.pads[i]);
    w.pads[i + dims] = std::max(0L, w.pads[i + dims]);
  }
  if (!any) return input;
  return site.emit("slice", {input}, {{"starts", starts}, {"sizes", sizes}});
}

void conv(const Site& site) {
  site.set_output(0, convolved(site, site.input(0), site.input(1), site.optional_input(2)));
}

/// Works out the padding of a transposed convolution whose output's shape is given.
void pad_for_output(const Site& site, const Shape& output, const Shape& extra, Windowed& w) {
  const Shape& input = site.shape(0);
  bool upper = site.text("auto_pad", "NOTSET") == "SAME_UPPER";
  size_t dims = w.kernel.size();
  for (size_t i = 0; i < dims; ++i) {
    long span =
        w.strides[i] * (input[i + 2] - 1) + extra[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
    long total = std::max(0L, span - output[i]);
    w.pads[i] = upper ? total / 2 : total - total / 2;
    w.pads[i + dims] = total - w.pads[i];
  }
}

void conv_transpose(const Site& site) {
  const Shape& weight = site.shape(1);
  if (weight.size() < 3) site.wrong("its weights have no kernel");
  size_t dims = weight.size() - 2;
  Windowed w{Shape(weight.begin() + 2, weight.end()), or_all(site, "strides", dims, 1),
             or_all(site, "dilations", dims, 1), or_all(site, "pads", 2 * dims, 0)};
  check_windowed(site, w);
  Shape extra = or_all(site, "output_padding", dims, 0), output = site.integers("output_shape");
  std::string mode = site.text("auto_pad", "NOTSET");
  if (output.empty() && mode.starts_with("SAME")) {
    for (size_t i = 0; i < dims; ++i) output.push_back(site.shape(0)[i + 2] * w.strides[i]);
  }
  if (output.size() > dims) output.erase(output.begin(), output.end() - static_cast<long>(dims));
  if (!output.empty()) {
    if (output.size() != dims || extra.size() != dims) site.wrong("output_shape does not fit");
    for (size_t i = 0; i < dims; ++i) {
      for (long x : {site.shape(0)[i + 2], output[i], extra[i]}) {
        if (x < 0 || x > most_extent) site.wrong(fmt::format("{} is out of range", x));
      }
    }
    pad_for_output(site, output, extra, w);
    for (size_t i = 0; i < dims; ++i) {
      // What the padding cannot reach is added at the end.
      long made = w.strides[i] * (site.shape(0)[i + 2] - 1) + extra[i] +
                  (w.kernel[i] - 1) * w.dilations[i] + 1 - w.pads[i] - w.pads[i + dims];
      extra[i] += output[i] - made;
    }
  }
  Attributes attributes = attributes_of(w);
  attributes["output_pads"] = extra;
  attributes["groups"] = site.integer("group", 1);
  site.set_output(0, site.emit("conv_transpose",
                               {site.input(0), site.input(1), site.optional_input(2)}, attributes));
}

Attributes pool_attributes(const Site& site) {
  Windowed w = windowed(site, site.integers("kernel_shape"));
  Attributes attributes = attributes_of(w);
  attributes["kernel"] = w.kernel;
  bool automatic = site.text("auto_pad", "NOTSET") != "NOTSET";
  attributes["ceil"] = automatic ? 0L : site.integer("ceil_mode", 0);
  return attributes;
}

void max_pool(const Site& site) {
  Attributes attributes = pool_attributes(site);
  site.set_output(0, site.emit("max_pool", {site.input(0)}, attributes));
  if (!site.wants(1)) return;
  attributes["columns"] = site.integer("storage_order", 0);
  site.set_output(1, site.emit("max_pool_indices", {site.input(0)}, attributes));
}

void average_pool(const Site& site) {
  Attributes attributes = pool_attributes(site);
  attributes["count_pad"] = site.integer("count_include_pad", 0);
  site.set_output(0, site.emit("avg_pool", {site.input(0)}, attributes));
}

void lp_pool(const Site& site) {
  Attributes attributes = pool_attributes(site);
  attributes["p"] = site.integer("p", 2);
  site.set_output(0, site.emit("lp_pool", {site.input(0)}, attributes));
}

Shape spatial_axes(const Site& site) {
  Shape axes;
  for (size_t i = 2; i < site.shape(0).size(); ++i) axes.push_back(static_cast<long>(i));
  return axes;
}

void global_average_pool(const Site& site) {
  site.set_output(0, site.emit("global_pool", {site.input(0)}));
}

void global_max_pool(const Site& site) {
  site.set_output(0, site.emit("reduce_max", {site.input(0)}, {{"axes", spatial_axes(site)}}));
}

void lrn(const Site& site) {
  site.set_output(0, site.emit("lrn", {site.input(0)},
                               {{"size", site.integer("size", 1)},
                                {"alpha", site.real("alpha", 0.0001)},
                                {"beta", site.real("beta", 0.75)},
                                {"bias", site.real("bias", 1)}}));
}

/// Puts the mean and variance of the batch in the place of the running ones, and hands those out,
/// moved towards the batch's.
void learn_statistics(const Site& site, std::vector<ValueId>& inputs) {
  Shape axes = spatial_axes(site);
  axes.insert(axes.begin(), 0);
  size_t rank = site.shape(0).size();
  if (rank < 2) site.wrong("its input has no channels");
  Attributes along{{"axes", axes}, {"keep", 0L}};
  Shape aligned(rank, 1);
  aligned[1] = site.shape(0)[1];
  ValueId mean = site.emit("reduce_mean", {inputs[0]}, along);
  ValueId difference = site.emit("sub", {inputs[0], site.reshaped(mean, aligned)});
  ValueId variance = site.emit("reduce_mean", {site.emit("mul", {difference, difference})}, along);
  double kept = site.real("momentum", 0.9);
  ValueId old_part = site.number(site.element(0), kept);
  ValueId new_part = site.number(site.element(0), 1 - kept);
  for (size_t i = 0; i < 2; ++i) {
    ValueId& running = inputs[3 + i];
    ValueId batch = i == 0 ? mean : variance;
    ValueId next = site.emit(
        "add", {site.emit("mul", {running, old_part}), site.emit("mul", {batch, new_part})});
    site.set_output(1 + i, next);
    running = batch;
  }
}

void batch_norm(const Site& site) {
  if (site.integer("spatial", 1) != 1) site.unsupported("statistics of each element");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 5; ++i) inputs.push_back(site.input(i));
  for (size_t i = 1; i < 5; ++i) inputs[i] = site.cast(inputs[i], site.element(0));
  if (site.integer("training_mode", 0) != 0) learn_statistics(site, inputs);
  site.set_output(0, site.emit("batch_norm", inputs, {{"epsilon", site.real("epsilon", 1e-5)}}));
}

ValueId filled(const Site& site, const Type& like, const Shape& shape, double value) {
  std::vector<double> values(static_cast<size_t>(site.storable(shape)), value);
  return site.constant_value(Array::of_reals(like.element, shape, values));
}

/// Normalises the last dimension to mean 0 and deviation 1.
ValueId standardised(const Site& site, ValueId value, double epsilon) {
  ValueId ones = filled(site, site.type_of(value), {site.shape_of(value).back()}, 1);
  return site.emit("layer_norm", {value, ones}, {{"epsilon", epsilon}});
}

/// Returns [c] as [c, 1, 1 ...], to meet the channels of a tensor of this rank.
ValueId per_channel(const Site& site, ValueId value, size_t rank) {
  Shape shape = site.shape_of(value);
  for (size_t i = 2; i < rank; ++i) shape.push_back(1);
  return site.reshaped(value, shape);
}

ValueId scaled_and_shifted(const Site& site, ValueId value, ValueId scale, ValueId shift) {
  size_t rank = site.shape_of(value).size();
  ValueId product = site.emit("mul", {value, per_channel(site, scale, rank)});
  return site.emit("add", {product, per_channel(site, shift, rank)});
}

void instance_norm(const Site& site) {
  const Shape shape = site.shape(0);
  if (shape.size() < 3) site.wrong("its input has no rows");
  long inner = count_of(shape) / std::max(1L, shape[0] * shape[1]);
  ValueId rows = site.reshaped(site.input(0), {shape[0], shape[1], inner});
  ValueId normal = site.reshaped(standardised(site, rows, site.real("epsilon", 1e-5)), shape);
  site.set_output(0, scaled_and_shifted(site, normal, site.input(1), site.input(2)));
}

void group_norm(const Site& site) {
  const Shape shape = site.shape(0);
  long groups = site.integer("num_groups", 1);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) site.wrong("its groups do not fit");
  long inner = count_of(shape) / std::max(1L, shape[0] * groups);
  ValueId rows = site.reshaped(site.input(0), {shape[0], groups, inner});
  ValueId normal = site.reshaped(standardised(site, rows, site.real("epsilon", 1e-5)), shape);
  ValueId scale = site.input(1), shift = site.input(2);
  if (site.opset() < 21 && site.shape(1) == Shape{groups} && groups != shape[1]) {
    // One number for each group at first; since operator set 21, for each channel.
    Shape indices;
    site.storable({shape[1]});
    for (long c = 0; c < shape[1]; ++c) indices.push_back(c / (shape[1] / groups));
    scale = site.emit("take", {scale}, {{"axis", 0L}, {"indices", indices}});
    shift = site.emit("take", {shift}, {{"axis", 0L}, {"indices", indices}});
  }
  site.set_output(0, scaled_and_shifted(site, normal, scale, shift));
}

void layer_norm(const Site& site) {
  std::vector<ValueId> inputs{site.input(0), site.input(1), site.optional_input(2)};
  std::vector<ValueId> results =
      site.emit_all("layer_norm", inputs,
                    {{"axis", site.integer("axis", -1)}, {"epsilon", site.real("epsilon", 1e-5)}});
  for (size_t i = 0; i < results.size(); ++i) site.set_output(i, results[i]);
}

void rms_norm(const Site& site) {
  size_t rank = site.shape(0).size(), axis = site.axis(site.integer("axis", -1), rank);
  Shape axes;
  for (size_t i = axis; i < rank; ++i) axes.push_back(static_cast<long>(i));
  ValueId square = site.emit("mul", {site.input(0), site.input(0)});
  ValueId mean = site.emit("reduce_mean", {square}, {{"axes", axes}});
  ValueId epsilon = filled(site, site.type(0), {}, site.real("epsilon", 1e-5));
  ValueId root = site.emit("sqrt", {site.emit("add", {mean, epsilon})});
  ValueId normal = site.emit("div", {site.input(0), root});
  site.set_output(0, site.emit("mul", {normal, site.input(1)}));
}

void lp_norm(const Site& site) {
  long p = site.integer("p", 2), axis = site.integer("axis", -1);
  if (p != 1 && p != 2) site.wrong("p must be 1 or 2");
  axis = static_cast<long>(site.axis(axis, site.shape(0).size()));
  ValueId norm =
      site.emit(p == 1 ? "reduce_l1" : "reduce_l2", {site.input(0)}, {{"axes", Shape{axis}}});
  // A row of zeros stays one.
  ValueId zero = filled(site, site.type(0), {}, 0), one = filled(site, site.type(0), {}, 1);
  ValueId is_zero = site.emit("equal", {norm, zero});
  ValueId divisor = site.emit("where", {is_zero, one, norm});
  site.set_output(0, site.emit("div", {site.input(0), divisor}));
}

void mean_variance_norm(const Site& site) {
  Shape axes = site.integers("axes", {0, 2, 3});
  ValueId mean = site.emit("reduce_mean", {site.input(0)}, {{"axes", axes}});
  ValueId difference = site.emit("sub", {site.input(0), mean});
  ValueId square = site.emit("mul", {difference, difference});
  ValueId variance = site.emit("reduce_mean", {square}, {{"axes", axes}});
  ValueId epsilon = filled(site, site.type(0), {}, 1e-9);
  ValueId deviation = site.emit("add", {site.emit("sqrt", {variance}), epsilon});
  site.set_output(0, site.emit("div", {difference, deviation}));
}

/// Softmax and its kin: until operator set 12 all dimensions from the axis on were one.
Translation along_axis(const std::string& op) {
  return [op](const Site& site) {
    const Shape shape = site.shape(0);
    size_t rank = shape.size();
    if (site.opset() >= 13) {
      site.set_output(0, site.emit(op, {site.input(0)}, {{"axis", site.integer("axis", -1)}}));
      return;
    }
    size_t axis = site.axis(site.integer("axis", 1), rank);
    long outer = 1;
    for (size_t i = 0; i < axis; ++i) outer *= shape[i];
    long inner = count_of(shape) / std::max(1L, outer);
    ValueId flat = axis + 1 == rank ? site.input(0) : site.reshaped(site.input(0), {outer, inner});
    ValueId result = site.emit(op, {flat}, {{"axis", -1L}});
    site.set_output(0, site.reshaped(result, shape));
  };
}

}  // namespace

ValueId convolved(const Site& site, ValueId input, ValueId weight, ValueId bias,
                  const Attributes& more) {
  const Shape shape = site.shape_of(weight);
  if (shape.size() < 3) site.wrong("its weights have no kernel");
  Windowed w = windowed(site, Shape(shape.begin() + 2, shape.end()));
  if (site.has_attribute("kernel_shape") && site.integers("kernel_shape") != w.kernel) {
    site.wrong("kernel_shape does not fit the weights");
  }
  input = cut(site, input, w);
  Attributes attributes = attributes_of(w);
  attributes["groups"] = site.integer("group", 1);
  attributes.insert(more.begin(), more.end());
  return site.emit("conv", {input, weight, bias}, attributes);
}

Translations window_translations() {
  return {{"Conv", conv},
          {"ConvTranspose", conv_transpose},
          {"MaxPool", max_pool},
          {"AveragePool", average_pool},
          {"LpPool", lp_pool},
          {"GlobalAveragePool", global_average_pool},
          {"GlobalMaxPool", global_max_pool},
          {"LRN", lrn},
          {"BatchNormalization", batch_norm},
          {"InstanceNormalization", instance_norm},
          {"GroupNormalization", group_norm},
          {"LayerNormalization", layer_norm},
          {"RMSNormalization", rms_norm},
          {"LpNormalization", lp_norm},
          {"MeanVarianceNormalization", mean_variance_norm},
          {"Softmax", along_axis("softmax")},
          {"LogSoftmax", along_axis("log_softmax")},
          {"Hardmax", along_axis("hardmax")}};
}

}  // namespace lathe
