// roi_align.cpp: regions of images, each brought to the same few elements.
//
// The images are [batch, channel, row, column]; a region is (left, top, right, bottom), and a third
// operand says of which image. An output element samples a part of its region at several places,
// between elements too. Data decide which elements are read, so it runs on arrays.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

constexpr double most_samples = 1 << 12;  // along one dimension of a part
constexpr long most_parts = 1 << 15;      // along one dimension of a region

std::vector<Type> types_of_roi_align(const Call& call) {
  check_float(call, 0);
  check_float(call, 1);
  check_integral(call, 2);
  call.flag("shift");
  const Shape &image = call.shape(0), &regions = call.shape(1);
  bool fits = image.size() == 4 && image[2] > 0 && image[3] > 0 && regions.size() == 2 &&
              regions[1] == 4 && call.shape(2) == Shape{regions[0]};
  if (!fits) {
    call.refuse("images {}, regions {} and indices {} do not go together", print_shape(image),
                print_shape(regions), print_shape(call.shape(2)));
  }
  if (call.text("mode") != "mean" && call.text("mode") != "max") {
    call.refuse("mode=\"{}\" is neither mean nor max", call.text("mode"));
  }
  for (const char* name : {"rows", "columns"}) {
    long parts = call.integer(name);
    if (parts < 1 || parts > most_parts) call.refuse("{}={} is out of range", name, parts);
  }
  if (call.integer("samples") < 0) call.refuse("samples={}", call.integer("samples"));
  return {{call.element(0), {regions[0], image[1], call.integer("rows"), call.integer("columns")}}};
}

/// One dimension of a region: "parts" parts from "start" on, each sampled "samples" times.
struct Side {
  double start, step;
  long samples, extent;

  /// Returns place i of a part, brought inside; less than 0 if it is too far outside.
  double place(long part, long i) const {
    double share = (static_cast<double>(i) + 0.5) / static_cast<double>(samples);
    double x = start + (static_cast<double>(part) + share) * step;
    if (!(x >= -1) || x > static_cast<double>(extent)) return -1;
    return std::clamp(x, 0.0, static_cast<double>(extent - 1));
  }
};

Side side_of(const Call& call, double from, double to, long parts, long extent) {
  double scale = call.real("scale"), shift = call.flag("shift") ? 0.5 : 0;
  double length = (to - from) * scale;
  // Without the shift, as it was at first, no region is smaller than an element.
  if (shift == 0) length = std::max(length, 1.0);
  double step = length / static_cast<double>(parts);
  double samples = static_cast<double>(call.integer("samples"));
  if (samples == 0) samples = std::max(0.0, std::ceil(step));
  if (!(samples <= most_samples)) call.refuse("a region needs {} samples a part", samples);
  return {from * scale - shift, step, static_cast<long>(samples), extent};
}

/// Returns what the four elements around a place of one channel contribute.
std::array<double, 4> contributions(const double* image, double y, double x, long rows,
                                    long columns) {
  if (y < 0 || x < 0) return {0, 0, 0, 0};
  auto top = static_cast<long>(y), left = static_cast<long>(x);
  long bottom = std::min(top + 1, rows - 1), right = std::min(left + 1, columns - 1);
  double down = y - static_cast<double>(top), across = x - static_cast<double>(left);
  return {(1 - down) * (1 - across) * image[top * columns + left],
          (1 - down) * across * image[top * columns + right],
          down * (1 - across) * image[bottom * columns + left],
          down * across * image[bottom * columns + right]};
}

/// Returns the mean of all samples of a part, or the greatest contribution to any.
double pooled(const double* image, const Side& y, const Side& x, long row, long column,
              bool greatest) {
  double sum = 0, most = 0;
  bool is_first = true;
  for (long i = 0; i < y.samples * x.samples; ++i) {
    double down = y.place(row, i / x.samples), across = x.place(column, i % x.samples);
    for (double value : contributions(image, down, across, y.extent, x.extent)) {
      sum += value;
      most = is_first ? value : std::max(most, value);
      is_first = false;
    }
  }
  return greatest ? most : sum / static_cast<double>(std::max(1L, y.samples * x.samples));
}

std::vector<Array> run_roi_align(const Call& call, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[0].shape();
  Shape result = types_of_roi_align(call).front().shape;
  std::vector<double> images = inputs[0].reals(), regions = inputs[1].reals(), values;
  std::vector<long> batches = inputs[2].integers();
  bool greatest = call.text("mode") == "max";
  for (size_t r = 0; r < batches.size(); ++r) {
    long batch = index_in(call, batches[r], shape[0]);
    const double* region = regions.data() + 4 * r;
    Side y = side_of(call, region[1], region[3], result[2], shape[2]);
    Side x = side_of(call, region[0], region[2], result[3], shape[3]);
    for (long c = 0; c < shape[1]; ++c) {
      const double* image = images.data() + (batch * shape[1] + c) * shape[2] * shape[3];
      for (long i = 0; i < result[2] * result[3]; ++i) {
        values.push_back(pooled(image, y, x, i / result[3], i % result[3], greatest));
      }
    }
  }
  return {array_of(inputs[0].element(), result, values)};
}

}  // namespace

Op roi_align() {
  return {.name = "roi_align",
          .summary = "regions of images, each brought to the same few elements",
          .examples = {"roi_align(f32[2x2x6x6], f32[3x4], i64[3], rows=2, columns=2)",
                       "roi_align(f32[2x1x5x4], f32[2x4], i64[2], samples=2, mode=\"max\")"},
          .graph = {.least = 3,
                    .most = 3,
                    .settings = {{"rows", 1L, "rows of a result"},
                                 {"columns", 1L, "columns of a result"},
                                 {"samples", 0L, "places for each row and column; 0: by its size"},
                                 {"scale", 1.0, "what coordinates are multiplied with"},
                                 {"shift", 1L, "1: whole coordinates are edges of elements"},
                                 {"mode", std::string("mean"), "of the samples: mean, max"}},
                    .infer = types_of_roi_align,
                    .run = run_roi_align}};
}

}  // namespace lathe::ops
