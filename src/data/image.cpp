// image.cpp: sizes and values of images. Reading is in image_read.cpp. Interface: image.h.
#include "data/image.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace lathe {
namespace {

constexpr long channels = 3;
constexpr int weight_bits = 22;  // as Pillow: products with a byte and their sum fit 32 bits

/// The pixels of a line that make up one pixel of the resized line.
struct Window {
  long first = 0;
  std::vector<int32_t> weights;  // in units of 2^-weight_bits
};

void check_image(const Array& image) {
  check(image.element() == Element::u8 && image.rank() == 3 && image.shape()[2] == channels,
        "an image is u8 rows x columns x 3");
}

void check_target(const Array& image, long rows, long columns) {
  check_image(image);
  if (rows < 1 || columns < 1) fail("an image cannot have the size {}x{}", rows, columns);
  if (image.count() == 0) fail("an image of the size {} has no pixels", print_shape(image.shape()));
}

/// Returns the windows that resize a line of "from" pixels to one of "to".
std::vector<Window> windows(long from, long to) {
  double scale = static_cast<double>(from) / static_cast<double>(to);
  double reach = std::max(scale, 1.0);  // the triangle widens only when the line shrinks
  std::vector<Window> result(static_cast<size_t>(to));
  for (long i = 0; i < to; ++i) {
    double centre = (static_cast<double>(i) + 0.5) * scale;
    long first = std::max(static_cast<long>(centre - reach + 0.5), 0L);
    long end = std::min(static_cast<long>(centre + reach + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (long j = first; j < end; ++j) {
      double distance = std::fabs((static_cast<double>(j) - centre + 0.5) * (1.0 / reach));
      weights.push_back(distance < 1 ? 1 - distance : 0);
      sum += weights.back();
    }
    Window& window = result[static_cast<size_t>(i)];
    window.first = first;
    for (double weight : weights) {
      double normalised = weight / sum;
      window.weights.push_back(static_cast<int32_t>(0.5 + normalised * (1 << weight_bits)));
    }
  }
  return result;
}

/// Resizes the middle dimension of "outer" x "from" x "inner" bytes.
std::vector<uint8_t> resized_middle(const uint8_t* data, long outer, long from, long inner,
                                    long to) {
  std::vector<Window> all = windows(from, to);
  std::vector<uint8_t> result(static_cast<size_t>(outer * to * inner));
  std::vector<int32_t> sums(static_cast<size_t>(inner));
  uint8_t* out = result.data();
  for (long o = 0; o < outer; ++o) {
    for (const Window& window : all) {
      std::fill(sums.begin(), sums.end(), 1 << (weight_bits - 1));
      const uint8_t* in = data + (o * from + window.first) * inner;
      for (int32_t weight : window.weights) {
        for (int32_t& sum : sums) sum += weight * *in++;
      }
      for (int32_t sum : sums) {
        *out++ = static_cast<uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
      }
    }
  }
  return result;
}

/// Returns the rows and columns that an image is resized to before the crop: the smallest of its
/// proportions that cover the input, or 256/224 of it for large inputs.
std::pair<long, long> covering(const Array& image, long rows, long columns) {
  long height = image.shape()[0], width = image.shape()[1];
  bool with_border = rows >= 128;
  long least_rows = with_border ? rows * 256 / 224 : rows;
  long least_columns = with_border ? columns * 256 / 224 : columns;
  if (least_rows * width >= least_columns * height)
    return {least_rows, least_rows * width / height};
  return {least_columns * height / width, least_columns};
}

/// Returns the offset of the middle "part" of "whole". Halves are rounded to even, as torchvision
/// rounds them.
long margin(long whole, long part) {
  long half = (whole - part) / 2;
  return (whole - part) % 2 != 0 && half % 2 != 0 ? half + 1 : half;
}

}  // namespace

Array resized(const Array& image, long rows, long columns) {
  check_target(image, rows, columns);
  long height = image.shape()[0], width = image.shape()[1];
  if (std::max(height, rows) > most_pixels / columns) {
    fail("an image of {}x{} pixels cannot be resized to {}x{}: more than {} pixels in all", height,
         width, rows, columns, most_pixels);
  }
  std::vector<uint8_t> wide =
      resized_middle(image.as<uint8_t>().data(), height, width, channels, columns);
  return Array::of<uint8_t>({rows, columns, channels},
                            resized_middle(wide.data(), 1, height, columns * channels, rows));
}

Array centre_cropped(const Array& image, long rows, long columns) {
  check_target(image, rows, columns);
  long height = image.shape()[0], width = image.shape()[1];
  if (rows > height || columns > width) {
    fail("the middle {}x{} of an image of {}x{} pixels reaches beyond it: resize it first", rows,
         columns, height, width);
  }
  long top = margin(height, rows), left = margin(width, columns);
  std::vector<uint8_t> result;
  result.reserve(static_cast<size_t>(rows * columns * channels));
  for (long row = top; row < top + rows; ++row) {
    const uint8_t* start = image.as<uint8_t>().data() + (row * width + left) * channels;
    result.insert(result.end(), start, start + columns * channels);
  }
  return Array::of<uint8_t>({rows, columns, channels}, result);
}

std::optional<Normalize> normalize_named(std::string_view name) {
  if (name == "none") return Normalize::none;
  if (name == "imagenet") return Normalize::imagenet;
  if (name == "cifar") return Normalize::cifar;
  return std::nullopt;
}

Statistics statistics_of(Normalize normalize) {
  switch (normalize) {
    case Normalize::none:
      break;
    case Normalize::imagenet:
      return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
    case Normalize::cifar:
      return {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};
  }
  return {{0, 0, 0}, {1, 1, 1}};
}

Array as_input(const Array& image, long rows, long columns, Normalize normalize) {
  check_target(image, rows, columns);
  auto [height, width] = covering(image, rows, columns);
  Array pixels = centre_cropped(resized(image, height, width), rows, columns);
  Statistics statistics = statistics_of(normalize);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(pixels.count()));
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = c; i < pixels.as<uint8_t>().size(); i += channels) {
      float value = static_cast<float>(pixels.as<uint8_t>()[i]) / 255.0F;
      values.push_back((value - statistics.mean[c]) / statistics.deviation[c]);
    }
  }
  return Array::of<float>({1, channels, rows, columns}, values);
}

}  // namespace lathe
