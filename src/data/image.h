// Images: PNG and JPEG files as arrays, and arrays as the input of a network.
//
//   Array pixels = read_image("cat.jpg");                           u8 480x640x3, red green blue
//   Array input = as_input(pixels, 224, 224, Normalize::imagenet);  f32 1x3x224x224
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/array.h"

namespace lathe {

/// The most pixels that an image can have.
constexpr long most_pixels = 1L << 28;

/// Reads a PNG or JPEG file as u8 rows x columns x 3 (red, green, blue). The content says which of
/// the two it is. Grey becomes three equal channels. Transparency is dropped, and so is a camera's
/// note on which side is up. Fails for damaged files, CMYK and too many pixels.
Array read_image(const std::string& path);

/// Returns an image of another size. Each pixel is the mean of those around its place, weighted by
/// a triangle as wide as two pixels of the smaller size, as Pillow's BILINEAR.
Array resized(const Array& image, long rows, long columns);

/// Returns the middle of an image. Fails if the image is smaller than that.
Array centre_cropped(const Array& image, long rows, long columns);

/// Which mean and deviation the channels of a network's input are normalised by.
enum class Normalize { none, imagenet, cifar };

/// Finds a normalisation by its name: "none", "imagenet" or "cifar".
std::optional<Normalize> normalize_named(std::string_view name);

/// What is subtracted from each channel, and what the rest is divided by.
struct Statistics {
  std::array<float, 3> mean;
  std::array<float, 3> deviation;
};

/// Returns the statistics of a normalisation, for values from 0 to 1.
Statistics statistics_of(Normalize normalize);

/// Returns an image as f32 1x3 x rows x columns. It is resized so that it covers the input, cropped
/// to its middle, scaled to 0..1 and normalised. If the input has 128 rows or more, as for
/// ImageNet, the image is resized to 256/224 of the input first, so that an eighth is cut off at
/// the border.
Array as_input(const Array& image, long rows, long columns, Normalize normalize);

}  // namespace lathe
