// grid_sample.cpp: values of an image at places that a grid says, between its elements too.
//
// The image is [batch, channel, ...], the grid [batch, ..., dimensions]: coordinates from -1 to 1,
// those of the last dimension first. A place's value is the sum of elements around it, each times
// its weights along all dimensions. Data decide which elements are read, so it runs on arrays.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

enum class Sampling { nearest, linear, cubic };
enum class Border { zeros, clamp, reflect };

Sampling sampling_of(const Call& call) {
  const std::string& mode = call.text("mode");
  if (mode == "nearest") return Sampling::nearest;
  if (mode == "linear") return Sampling::linear;
  if (mode != "cubic") call.refuse("mode=\"{}\" is none of nearest, linear, cubic", mode);
  return Sampling::cubic;
}

Border border_of(const Call& call) {
  const std::string& name = call.text("border");
  if (name == "zeros") return Border::zeros;
  if (name == "clamp") return Border::clamp;
  if (name != "reflect") call.refuse("border=\"{}\" is none of zeros, clamp, reflect", name);
  return Border::reflect;
}

std::vector<Type> types_of_grid_sample(const Call& call) {
  check_float(call, 0);
  check_float(call, 1);
  sampling_of(call);
  border_of(call);
  call.flag("corners");
  const Shape &image = call.shape(0), &grid = call.shape(1);
  bool fits = image.size() >= 3 && grid.size() == image.size() && grid[0] == image[0] &&
              grid.back() == static_cast<long>(image.size()) - 2;
  if (!fits) {
    call.refuse("the image {} and the grid {} do not go together", print_shape(image),
                print_shape(grid));
  }
  if (count_between(image, 2, image.size()) == 0) call.refuse("the image has no elements");
  Shape shape{image[0], image[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return {{call.element(0), shape}};
}

/// An element along one dimension, and what it counts.
struct Tap {
  long index;
  double weight;
};

/// One dimension of the image.
struct Line {
  long extent;
  Sampling sampling;
  Border border;
  bool corners;  ///< do -1 and 1 mean the middles of the outermost elements, not their edges?

  double low() const { return corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(extent) - (corners ? 1 : 0.5); }
  double place(double coordinate) const;
  double reflected(double x) const;
  std::vector<Tap> taps(double coordinate) const;
};

/// Reflects a place at the borders until it is inside.
double Line::reflected(double x) const {
  double range = high() - low();
  if (range <= 0) return 0;
  double from = std::fmod(std::fabs(x - low()), 2 * range);
  return low() + (from > range ? 2 * range - from : from);
}

/// Returns where a coordinate lies, in elements; places outside are brought back.
double Line::place(double coordinate) const {
  auto n = static_cast<double>(extent);
  double x = corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  // Which element is nearest is decided on what an f32 can hold, as everybody does.
  x = static_cast<float>(x);
  if (sampling == Sampling::nearest) x = std::nearbyint(x);
  if (border != Border::zeros && (x < low() || x > high())) {
    x = border == Border::clamp ? std::clamp(x, 0.0, n - 1) : reflected(x);
  }
  // What is far outside, or no number, stays outside.
  return x >= -4 && x <= n + 4 ? x : -4;
}

/// Returns what the four elements around a place count, by cubic convolution.
std::array<double, 4> cubic_weights(double x) {
  constexpr double a = -0.75;
  auto inner = [](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  auto outer = [](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {outer(x + 1), inner(x), inner(1 - x), outer(2 - x)};
}

std::vector<Tap> Line::taps(double coordinate) const {
  double x = place(coordinate), whole = std::floor(x), rest = x - whole;
  auto first = static_cast<long>(whole);
  std::vector<Tap> list;
  if (sampling == Sampling::nearest) list = {{first, 1}};
  if (sampling == Sampling::linear) list = {{first, 1 - rest}, {first + 1, rest}};
  if (sampling == Sampling::cubic) {
    long index = first - 1;
    for (double weight : cubic_weights(rest)) list.push_back({index++, weight});
  }
  if (border == Border::zeros) {
    std::erase_if(list, [&](const Tap& tap) { return tap.index < 0 || tap.index >= extent; });
  }
  for (Tap& tap : list) {
    if (border == Border::reflect) {
      tap.index = static_cast<long>(reflected(static_cast<double>(tap.index)));
    }
    tap.index = std::clamp(tap.index, 0L, extent - 1);
  }
  return list;
}

/// Returns the elements around a place of the whole image, given those along each dimension.
std::vector<Tap> combined(const std::vector<std::vector<Tap>>& taps, const Shape& extents) {
  std::vector<Tap> all{{0, 1}};
  for (size_t d = 0; d < taps.size(); ++d) {
    std::vector<Tap> longer;
    for (const Tap& before : all) {
      for (const Tap& tap : taps[d]) {
        longer.push_back({before.index * extents[d] + tap.index, before.weight * tap.weight});
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<Array> run_grid_sample(const Call& call, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[0].shape();
  Shape extents(shape.begin() + 2, shape.end()), result = types_of_grid_sample(call).front().shape;
  long inner = count_of(extents), places = count_between(result, 2, result.size());
  auto dims = static_cast<long>(extents.size());
  std::vector<double> image = inputs[0].reals(), grid = inputs[1].reals();
  std::vector<double> values(static_cast<size_t>(count_of(result)), 0);
  Line line{0, sampling_of(call), border_of(call), call.flag("corners")};
  for (long i = 0; i < shape[0] * places; ++i) {
    std::vector<std::vector<Tap>> taps;
    for (long d = 0; d < dims; ++d) {
      line.extent = extents[static_cast<size_t>(d)];
      taps.push_back(line.taps(grid[static_cast<size_t>(i * dims + dims - 1 - d)]));
    }
    long batch = i / places, place = i % places;
    for (const Tap& tap : combined(taps, extents)) {
      for (long c = batch * shape[1]; c < (batch + 1) * shape[1]; ++c) {
        values[static_cast<size_t>(c * places + place)] +=
            tap.weight * image[static_cast<size_t>(c * inner + tap.index)];
      }
    }
  }
  return {array_of(inputs[0].element(), result, values)};
}

}  // namespace

Op grid_sample() {
  return {.name = "grid_sample",
          .summary = "values of an image at the places of a grid",
          .examples = {"grid_sample(f32[1x2x4x5], f32[1x3x2x2])",
                       "grid_sample(f32[2x1x3x3], f32[2x2x2x2], mode=\"cubic\", border=\"clamp\")"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"mode", std::string("linear"), "nearest, linear, cubic"},
                                 {"border", std::string("zeros"),
                                  "what lies outside: zeros, clamp, reflect"},
                                 {"corners", 0L, "1: -1 and 1 are middles of elements, not edges"}},
                    .infer = types_of_grid_sample,
                    .run = run_grid_sample}};
}

}  // namespace lathe::ops
