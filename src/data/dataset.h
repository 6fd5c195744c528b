// Images with labels, to train a network and to measure its accuracy.
//
//   Dataset data = load_dataset("cifar10:/data/cifar10", Split::test, Normalize::cifar);
//   Array images = data.images(0, 128);                f32 128x3x32x32
//   std::vector<long> labels = data.labels(0, 128);
//
// Images are read or made when they are asked for. A dataset may be used from several threads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/array.h"
#include "data/image.h"

namespace lathe {

/// Which half of a dataset: what a network learns from, or what it is judged by.
enum class Split { train, test };

/// Images with labels.
struct Dataset {
  std::string name;  // "cifar10"
  long count = 0;
  long classes = 0;  // labels are 0 to classes - 1
  Shape shape;       // of one image: channels x rows x columns

  /// Returns "number" images from "first" on as f32 number x channels x rows x columns.
  Array images(long first, long number) const;
  /// Returns the labels of these images.
  std::vector<long> labels(long first, long number) const;

  /// Writes the images from "first" on until "values" is full: how a source provides images().
  std::function<void(long first, std::span<float> values)> read_images;
  /// Writes the labels from "first" on until "labels" is full: how a source provides labels().
  std::function<void(long first, std::span<long> labels)> read_labels;
};

/// Loads a dataset by what it is and where:
///   synthetic:SEED[,COUNT]  made up: 10 classes of noisy waves, 3x32x32; the same on every machine
///   cifar10:DIR             CIFAR-10 in its binary form: data_batch_1.bin ... and test_batch.bin
///   npy:X.npy,Y.npy         images N x channels x rows x columns and N labels, for both splits
/// Bytes are scaled to 0..1 and normalised; other numbers, which only npy has, are taken as they
/// are.
Dataset load_dataset(const std::string& spec, Split split = Split::test,
                     Normalize normalize = Normalize::none);

}  // namespace lathe
