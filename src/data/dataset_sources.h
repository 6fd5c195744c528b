// Where the images of datasets come from: one function per kind of specification. For
// load_dataset() of dataset.h only.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/dataset.h"

namespace lathe {

/// Makes up a dataset; image i of a split depends on nothing but the seed, the split and i.
Dataset synthetic_dataset(uint64_t seed, long count, Split split, Normalize normalize);

/// Opens CIFAR-10 in its binary form in a directory, or in cifar-10-batches-bin inside of it.
Dataset cifar10_dataset(const std::string& directory, Split split, Normalize normalize);

/// Loads images and labels from two NumPy files.
Dataset npy_dataset(const std::string& images, const std::string& labels, Normalize normalize);

/// Scales the bytes of images, channels x "pixels" each, to 0..1 and normalises them.
void normalise_bytes(std::span<const uint8_t> bytes, long channels, long pixels,
                     Normalize normalize, std::span<float> values);

}  // namespace lathe
