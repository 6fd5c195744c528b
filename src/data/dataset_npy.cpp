// dataset_npy.cpp: images, and labels, from NumPy files. Interface: npy_dataset() of
// dataset_sources.h.
#include <algorithm>

#include "data/dataset_sources.h"
#include "data/npy.h"

namespace lathe {
namespace {

constexpr long most_classes = 1L << 20;

Array read_images(const std::string& path, Normalize normalize) {
  Array images = read_npy(path);
  if (images.rank() != 4 || images.count() == 0) {
    fail("'{}' has the shape {}; images have N x channels x rows x columns", path,
         print_shape(images.shape()));
  }
  if (images.element() == Element::u8 && normalize != Normalize::none && images.shape()[1] != 3) {
    fail(
        "'{}' has images of {} channels; only those of 3 are normalised: use the normalisation "
        "'none'",
        path, images.shape()[1]);
  }
  return images;
}

std::vector<long> read_labels(const std::string& path, const std::string& images, long count) {
  Array labels = read_npy(path);
  if (!is_integral(labels.element())) {
    fail("'{}' has elements {}; labels are integers", path, name_of(labels.element()));
  }
  bool one_each = labels.rank() == 1 || (labels.rank() == 2 && labels.shape()[1] == 1);
  if (!one_each) {
    fail("'{}' has the shape {}; there is one label per image, in the shape {}", path,
         print_shape(labels.shape()), count);
  }
  if (labels.count() != count) {
    fail("'{}' has {} images, but '{}' has {} labels", images, count, path, labels.count());
  }
  std::vector<long> result = labels.integers();
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] < 0 || result[i] >= most_classes) {
      fail("'{}' has the label {} in record {}; labels are 0 to {}", path, result[i], i,
           most_classes - 1);
    }
  }
  return result;
}

/// Writes the elements of "images" from "first" on, converted.
void copy_elements(const Array& images, long first, Normalize normalize, std::span<float> values) {
  auto count = static_cast<long>(values.size());
  auto size = static_cast<size_t>(size_of(images.element()));
  if (images.element() == Element::u8) {
    auto bytes = images.as<uint8_t>().subspan(static_cast<size_t>(first), values.size());
    normalise_bytes(bytes, images.shape()[1], images.shape()[2] * images.shape()[3], normalize,
                    values);
    return;
  }
  auto bytes = images.bytes().subspan(static_cast<size_t>(first) * size, values.size() * size);
  Array floats = Array::of_bytes(images.element(), {count}, bytes).with_element(Element::f32);
  std::copy(floats.as<float>().begin(), floats.as<float>().end(), values.begin());
}

}  // namespace

Dataset npy_dataset(const std::string& images, Normalize normalize) {
  Array elements = read_images(images, normalize);
  const Shape& shape = elements.shape();
  Dataset dataset{.name = "npy", .count = shape[0], .shape = {shape.begin() + 1, shape.end()}};
  long size = count_of(dataset.shape);
  dataset.read_images = [elements, size, normalize](long first, std::span<float> values) {
    copy_elements(elements, first * size, normalize, values);
  };
  return dataset;
}

Dataset npy_dataset(const std::string& images, const std::string& labels, Normalize normalize) {
  Dataset dataset = npy_dataset(images, normalize);
  std::vector<long> all = read_labels(labels, images, dataset.count);
  dataset.classes = *std::max_element(all.begin(), all.end()) + 1;
  dataset.read_labels = [all](long first, std::span<long> wanted) {
    std::copy_n(all.begin() + first, wanted.size(), wanted.begin());
  };
  return dataset;
}

}  // namespace lathe
