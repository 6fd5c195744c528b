// import_sampling.cpp: ONNX's operators that read images at computed places, or add to such places.
#include <algorithm>

#include "onnx/site.h"

namespace lathe {
namespace {

/// Returns the middle of element i of "extent", as a coordinate from -1 to 1.
double coordinate(long i, long extent, bool corners) {
  if (corners)
    return extent == 1 ? 0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(extent - 1);
  return -1 + static_cast<double>(2 * i + 1) / static_cast<double>(extent);
}

/// Returns the coordinates of all elements, those of the last dimension first, each with a 1 behind
/// them: [element, dimension + 1].
ValueId coordinates(const Site& site, const Shape& extents, bool corners) {
  auto dims = static_cast<long>(extents.size());
  long count = site.storable(extents);
  site.storable({count, dims});
  std::vector<double> list;
  for (long i = 0; i < count; ++i) {
    long rest = i;
    for (size_t d = extents.size(); d-- > 0;) {
      list.push_back(coordinate(rest % extents[d], extents[d], corners));
      rest /= extents[d];
    }
    list.push_back(1);
  }
  return site.constant_value(Array::of_reals(site.element(0), {count, dims + 1}, list));
}

void affine_grid(const Site& site) {
  const Shape theta = site.shape(0);
  Shape size = site.required(1, "its size").integers();
  if (size.size() < 3 || theta != Shape{size[0], static_cast<long>(size.size()) - 2,
                                        static_cast<long>(size.size()) - 1}) {
    site.wrong(fmt::format("{} are no transformations of an image {}", print_shape(theta),
                           print_shape(size)));
  }
  Shape extents(size.begin() + 2, size.end()), shape = extents;
  for (long extent : extents) {
    if (extent < 1) site.wrong("its image has no elements");
  }
  shape.insert(shape.begin(), theta[0]);
  shape.push_back(theta[1]);
  ValueId places = coordinates(site, extents, site.integer("align_corners", 0) != 0);
  ValueId moved = site.emit("matmul", {places, site.transposed(site.input(0), {0, 2, 1})});
  site.set_output(0, site.reshaped(moved, shape));
}

/// Returns what Lathe calls an attribute's value.
std::string renamed(const Site& site, const std::string& name, const std::string& otherwise,
                    const std::map<std::string, std::string>& names) {
  std::string value = site.text(name, otherwise);
  auto found = names.find(value);
  if (found == names.end()) site.wrong(fmt::format("{} is '{}'", name, value));
  return found->second;
}

void grid_sample(const Site& site) {
  std::string mode = renamed(site, "mode", "linear",
                             {{"linear", "linear"},
                              {"bilinear", "linear"},
                              {"nearest", "nearest"},
                              {"cubic", "cubic"},
                              {"bicubic", "cubic"}});
  std::string border =
      renamed(site, "padding_mode", "zeros",
              {{"zeros", "zeros"}, {"border", "clamp"}, {"reflection", "reflect"}});
  site.set_output(
      0, site.emit(
             "grid_sample", {site.input(0), site.input(1)},
             {{"mode", mode}, {"border", border}, {"corners", site.integer("align_corners", 0)}}));
}

void roi_align(const Site& site) {
  std::string mode = renamed(site, "mode", "avg", {{"avg", "mean"}, {"max", "max"}});
  // The shift by half an element came with operator set 16.
  std::string otherwise = site.opset() < 16 ? "output_half_pixel" : "half_pixel";
  std::string shift = renamed(site, "coordinate_transformation_mode", otherwise,
                              {{"half_pixel", "shift"}, {"output_half_pixel", ""}});
  site.set_output(0, site.emit("roi_align", {site.input(0), site.input(1), site.input(2)},
                               {{"rows", site.integer("output_height", 1)},
                                {"columns", site.integer("output_width", 1)},
                                {"samples", site.integer("sampling_ratio", 0)},
                                {"scale", site.real("spatial_scale", 1)},
                                {"shift", shift.empty() ? 0L : 1L},
                                {"mode", mode}}));
}

/// A convolution whose kernel elements are moved: images are sampled where the elements land, and
/// the samples of each kernel element become channels of a convolution with a 1x1 kernel.
class DeformConv {
 public:
  explicit DeformConv(const Site& site)
      : site_(site), image_(site.shape(0)), weight_(site.shape(1)), offset_(site.shape(2)) {
    if (image_.size() != 4 || weight_.size() != 4 || offset_.size() != 4) {
      site.unsupported("images that do not have 2 dimensions");
    }
    pads_ = site.integers("pads", {0, 0, 0, 0});
    strides_ = site.integers("strides", {1, 1});
    dilations_ = site.integers("dilations", {1, 1});
    groups_ = site.integer("offset_group", 1);
    elements_ = weight_[2] * weight_[3];
    bool fits = pads_.size() == 4 && strides_.size() == 2 && dilations_.size() == 2 &&
                groups_ > 0 && image_[1] % groups_ == 0 && offset_[0] == image_[0] &&
                offset_[1] == 2 * groups_ * elements_ && image_[2] > 0 && image_[3] > 0;
    if (!fits) site.wrong("its offsets or attributes do not fit its image");
    if (site.has(4) &&
        site.shape(4) != Shape{image_[0], groups_ * elements_, offset_[2], offset_[3]}) {
      site.wrong("its mask does not fit its offsets");
    }
  }

  void run() {
    std::vector<ValueId> samples;
    for (long g = 0; g < groups_; ++g) samples.push_back(sampled(g));
    ValueId columns = site_.reshaped(site_.joined(samples, 1),
                                     {image_[0], image_[1] * elements_, offset_[2], offset_[3]});
    ValueId weight = site_.reshaped(site_.input(1), {weight_[0], weight_[1] * elements_, 1, 1});
    site_.set_output(0, site_.emit("conv", {columns, weight, site_.optional_input(3)},
                                   {{"groups", site_.integer("group", 1)}}));
  }

 private:
  const Site& site_;
  Shape image_, weight_, offset_, pads_, strides_, dilations_;
  long groups_, elements_;

  /// Returns where the kernel elements would land without offsets, along dimension d.
  ValueId places(size_t d) const {
    Shape shape{elements_, offset_[2], offset_[3]};
    std::vector<double> list;
    for (long i = 0, count = site_.storable(shape); i < count; ++i) {
      long output = d == 0 ? i / shape[2] % shape[1] : i % shape[2];
      long element = i / (shape[1] * shape[2]);
      long kernel = d == 0 ? element / weight_[3] : element % weight_[3];
      list.push_back(static_cast<double>(strides_[d] * output + dilations_[d] * kernel - pads_[d]));
    }
    return site_.constant_value(Array::of_reals(site_.element(0), shape, list));
  }

  /// Returns the coordinates along dimension d where the kernel elements of a group land.
  ValueId landed(ValueId offsets, size_t d) const {
    ValueId place =
        site_.emit("add", {site_.element_at(offsets, 2, static_cast<long>(d)), places(d)});
    auto extent = static_cast<double>(image_[2 + d]);
    ValueId factor = site_.number(site_.element(0), 2 / extent);
    ValueId shift = site_.number(site_.element(0), 1 / extent - 1);
    return site_.emit("add", {site_.emit("mul", {place, factor}), shift});
  }

  /// Returns the samples of an offset group: [sample, channel, kernel element, row, column].
  ValueId sampled(long g) const {
    long n = image_[0], channels = image_[1] / groups_, rows = offset_[2], columns = offset_[3];
    ValueId offsets = site_.sliced(site_.input(2), 1, 2 * g * elements_, 2 * elements_);
    offsets = site_.reshaped(offsets, {n, elements_, 2, rows, columns});
    ValueId grid = site_.stacked({landed(offsets, 1), landed(offsets, 0)}, 4);
    grid = site_.reshaped(grid, {n, elements_ * rows, columns, 2});
    ValueId image = site_.sliced(site_.input(0), 1, g * channels, channels);
    ValueId values = site_.reshaped(site_.emit("grid_sample", {image, grid}),
                                    {n, channels, elements_, rows, columns});
    if (!site_.has(4)) return values;
    ValueId mask = site_.sliced(site_.input(4), 1, g * elements_, elements_);
    return site_.emit("mul", {values, site_.reshaped(mask, {n, 1, elements_, rows, columns})});
  }
};

void deform_conv(const Site& site) { DeformConv(site).run(); }

/// Returns a kernel for each of "channels" times "kernel" columns that puts it to its place.
ValueId unit_kernels(const Site& site, long channels, const Shape& kernel) {
  long elements = count_of(kernel);
  Shape shape{channels * elements, 1};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  std::vector<double> list(static_cast<size_t>(site.storable(shape)), 0);
  for (long i = 0; i < channels * elements; ++i) {
    list[static_cast<size_t>(i * elements + i % elements)] = 1;
  }
  return site.constant_value(Array::of_reals(site.element(0), shape, list));
}

constexpr long most_extent_of_image = 1L << 30;

/// Adds columns, each the elements under a kernel, to the image that they are of: a transposed
/// convolution.
void column_to_image(const Site& site) {
  const Shape data = site.shape(0);
  Shape image = site.required(1, "its image").integers();
  Shape kernel = site.required(2, "its kernel").integers();
  size_t dims = image.size();
  Shape strides = site.integers("strides", Shape(dims, 1));
  Shape dilations = site.integers("dilations", Shape(dims, 1));
  Shape pads = site.integers("pads", Shape(2 * dims, 0)), columns, extra;
  bool fits = data.size() == 3 && dims > 0 && kernel.size() == dims && strides.size() == dims &&
              dilations.size() == dims && pads.size() == 2 * dims;
  for (const Shape* list : {&image, &kernel, &strides, &dilations}) {
    for (long x : *list) fits = fits && x > 0 && x <= most_extent_of_image;
  }
  for (long p : pads) fits = fits && p >= 0 && p <= most_extent_of_image;
  if (!fits) site.wrong("its attributes do not fit");
  for (size_t d = 0; d < dims; ++d) {
    long room = image[d] + pads[d] + pads[d + dims] - (kernel[d] - 1) * dilations[d] - 1;
    if (room < 0) site.wrong("its kernel is larger than the image");
    columns.push_back(room / strides[d] + 1);
    extra.push_back(room % strides[d]);
  }
  long elements = count_of(kernel);
  if (data[1] % elements != 0 || data[2] != count_of(columns)) {
    site.wrong(
        fmt::format("{} are no columns of an image {}", print_shape(data), print_shape(image)));
  }
  Shape shape{data[0], data[1]};
  shape.insert(shape.end(), columns.begin(), columns.end());
  long channels = data[1] / elements;
  site.set_output(
      0, site.emit("conv_transpose",
                   {site.reshaped(site.input(0), shape), unit_kernels(site, channels, kernel)},
                   {{"strides", strides},
                    {"dilations", dilations},
                    {"pads", pads},
                    {"output_pads", extra},
                    {"groups", channels}}));
}

/// Puts the largest values of windows back to where they were; all else is 0.
void max_unpool(const Site& site) {
  const Shape pooled = site.shape(0);
  Shape kernel = site.integers("kernel_shape");
  size_t dims = kernel.size();
  Shape strides = site.integers("strides", Shape(dims, 1));
  Shape pads = site.integers("pads", Shape(2 * dims, 0)), shape = pooled;
  bool fits = pooled.size() == dims + 2 && strides.size() == dims && pads.size() == 2 * dims &&
              site.shape(1) == pooled;
  if (!fits) site.wrong("its attributes do not fit its input");
  for (size_t d = 0; d < dims; ++d) {
    shape[d + 2] = (pooled[d + 2] - 1) * strides[d] - pads[d] - pads[d + dims] + kernel[d];
    if (shape[d + 2] < 1 || shape[d + 2] > most_extent_of_image) site.wrong("its pads do not fit");
  }
  Shape flat{count_of(pooled)};
  ValueId nothing =
      site.emit("expand", {site.number(site.element(0), 0)}, {{"shape", Shape{count_of(shape)}}});
  ValueId result = site.emit("scatter_elements", {nothing, site.reshaped(site.input(1), flat),
                                                  site.reshaped(site.input(0), flat)});
  result = site.reshaped(result, shape);
  if (site.has(2)) {
    Shape wanted = site.required(2, "its shape").integers(), after(2 * shape.size(), 0);
    if (wanted.size() != shape.size()) site.wrong("its shape does not fit");
    for (size_t d = 0; d < shape.size(); ++d) {
      after[d + shape.size()] = wanted[d] - shape[d];
      if (wanted[d] < shape[d]) site.wrong("its shape is too small");
    }
    result = site.emit("pad", {result}, {{"pads", after}});
  }
  site.set_output(0, result);
}

}  // namespace

Translations sampling_translations() {
  return {{"AffineGrid", affine_grid}, {"GridSample", grid_sample}, {"RoiAlign", roi_align},
          {"DeformConv", deform_conv}, {"Col2Im", column_to_image}, {"MaxUnpool", max_unpool}};
}

}  // namespace lathe
