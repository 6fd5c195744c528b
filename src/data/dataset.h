// Samples with labels, to train a network and to measure its accuracy: images, or tokens.
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

/// Which part of a dataset: what a network learns from, or what it is judged by.
enum class Split {
  train,
  test,
  validation,  ///< samples of "train" that a bundle's train.py leaves out, to choose by them
  learnt,      ///< all others of "train"
};

/// What a network reads of one sample at one of its inputs.
struct InputForm {
  Shape shape = {3, 32, 32};
  long below = 0;  ///< 0: numbers are real; otherwise they are whole, from 0 to below - 1
};

/// What a network reads and says of one sample. Data that are generated take this form.
struct SampleForm {
  std::vector<InputForm> inputs = {InputForm{}};
  long classes = 10;
};

/// Images with labels.
struct Dataset {
  std::string name;  // "cifar10"
  long count = 0;
  long classes = 0;                  // labels are 0 to classes - 1; 0: there are no labels
  Shape shape;                       // of one image: channels x rows x columns
  std::vector<Dataset> others = {};  // what further inputs of a network read; without labels

  /// Returns "number" images from "first" on as f32 number x channels x rows x columns.
  Array images(long first, long number) const;
  /// Returns the labels of these images. Fails if there are none.
  std::vector<long> labels(long first, long number) const;

  /// Writes the images from "first" on until "values" is full: how a source provides images().
  std::function<void(long first, std::span<float> values)> read_images;
  /// Writes the labels from "first" on until "labels" is full: how a source provides labels().
  std::function<void(long first, std::span<long> labels)> read_labels;
  /// Returns data of another form: how a source provides fitted(). Null: there is one form only.
  std::function<Dataset(const SampleForm&)> in_form = nullptr;

  /// Returns the data for a network that reads samples of this form. Generated data take the form;
  /// other data stay as they are.
  Dataset fitted(const SampleForm& form) const { return in_form ? in_form(form) : *this; }
};

/// Returns which of so many training samples are left out by train.py, and validate: the same on
/// every machine, and the same that PyTorch's randperm draws there.
std::vector<long> validation_samples(long count);

/// Loads the dataset that a text describes:
///   synthetic:SEED[,COUNT]  made up: noisy waves, or tokens; the same on every machine. They have
///                           10 classes and 3x32x32 values until they are fitted to a network.
///   cifar10:DIR             CIFAR-10 in its binary form: data_batch_1.bin ... and test_batch.bin
///   npy:X.npy,Y.npy         images N x channels x rows x columns and N labels, for both splits
///   npy:X.npy               the same without labels
/// Bytes are scaled to 0..1 and normalised. Only npy can have other numbers; they stay as they are.
Dataset load_dataset(const std::string& spec, Split split = Split::test,
                     Normalize normalize = Normalize::none);

}  // namespace lathe
