// Where the images of datasets come from: one function per kind of specification. For
// load_dataset() of dataset.h only.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/dataset.h"

namespace lathe {

/// What a made-up dataset depends on, besides its form.
struct Synthesis {
  uint64_t seed = 0;
  long count = 0;
  Split split = Split::test;
  Normalize normalize = Normalize::none;
};

/// Makes up a dataset of this form. Sample i depends only on the form, the seed, the split and i.
Dataset synthetic_dataset(const Synthesis& how, const SampleForm& form = {});

/// Returns the label of a sample. The samples are cut into rows, each as long as there are classes.
/// Each row has every label once, in a random order.
long synthetic_label(const Synthesis& how, long classes, long sample);

/// Makes up tokens for one input of a network, given by its number. Half of the tokens are words
/// that are frequent in the sample's class.
Dataset synthetic_tokens(const Synthesis& how, const InputForm& form, long classes, size_t input);

/// Opens CIFAR-10 in its binary form in a directory, or in cifar-10-batches-bin inside of it.
Dataset cifar10_dataset(const std::string& directory, Split split, Normalize normalize);

/// Loads images and labels from two NumPy files.
Dataset npy_dataset(const std::string& images, const std::string& labels, Normalize normalize);
/// Loads images without labels.
Dataset npy_dataset(const std::string& images, Normalize normalize);

/// Scales the bytes of images to 0..1 and normalises them. An image is channels x "pixels". If
/// there are more than three channels, the statistics of the three colours repeat.
void normalise_bytes(std::span<const uint8_t> bytes, long channels, long pixels,
                     Normalize normalize, std::span<float> values);

}  // namespace lathe
