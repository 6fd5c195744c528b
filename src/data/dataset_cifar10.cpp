// dataset_cifar10.cpp: CIFAR-10 in its binary form: batches of 10000 records, each a byte for the
// label and 3x32x32 for the image. Records are read when they are asked for. Interface:
// cifar10_dataset() of dataset_sources.h.
#include <algorithm>
#include <filesystem>

#include "data/dataset_sources.h"
#include "data/file.h"

namespace lathe {
namespace {

constexpr long classes = 10, channels = 3, pixels = 32 * 32;
constexpr long image_bytes = channels * pixels, record_bytes = 1 + image_bytes;
constexpr long batch_records = 10000;

std::string batches_in(const std::string& directory) {
  std::string inside = directory + "/cifar-10-batches-bin";
  return std::filesystem::is_directory(inside) ? inside : directory;
}

InputFile open_batch(const std::string& path) {
  InputFile file(path);
  long expected = batch_records * record_bytes;
  if (file.size() != expected) {
    fail("'{}' has {} bytes, but a batch of CIFAR-10 in its binary form has {}: it is {}", path,
         file.size(), expected, file.size() < expected ? "truncated" : "no such batch");
  }
  return file;
}

std::vector<InputFile> open_batches(const std::string& directory, Split split) {
  if (!std::filesystem::is_directory(directory)) {
    fail("there is no directory '{}' with CIFAR-10: unpack cifar-10-binary.tar.gz there",
         directory);
  }
  std::string place = batches_in(directory);
  if (split == Split::test) return {open_batch(place + "/test_batch.bin")};
  std::vector<InputFile> files;
  for (int i = 1; i <= 5; ++i) {
    files.push_back(open_batch(fmt::format("{}/data_batch_{}.bin", place, i)));
  }
  return files;
}

/// Reads the images from "first" on, a run of records of one batch at a time.
void read_images(const std::vector<InputFile>& files, long first, Normalize normalize,
                 std::span<float> values) {
  while (!values.empty()) {
    long record = first % batch_records, wanted = static_cast<long>(values.size()) / image_bytes;
    long run = std::min({wanted, batch_records - record, 1000L});
    std::vector<std::byte> bytes = files[static_cast<size_t>(first / batch_records)].read(
        record * record_bytes, run * record_bytes);
    for (long i = 0; i < run; ++i) {
      const auto* image = reinterpret_cast<const uint8_t*>(bytes.data()) + i * record_bytes + 1;
      normalise_bytes({image, image_bytes}, channels, pixels, normalize,
                      values.subspan(static_cast<size_t>(i * image_bytes), image_bytes));
    }
    values = values.subspan(static_cast<size_t>(run * image_bytes));
    first += run;
  }
}

void read_labels(const std::vector<InputFile>& files, long first, std::span<long> labels) {
  for (long& label : labels) {
    const InputFile& file = files[static_cast<size_t>(first / batch_records)];
    long record = first++ % batch_records;
    label = std::to_integer<long>(file.read(record * record_bytes, 1).front());
    if (label >= classes) {
      fail("'{}' has the label {} in record {}; labels are 0 to {}", file.path(), label, record,
           classes - 1);
    }
  }
}

}  // namespace

Dataset cifar10_dataset(const std::string& directory, Split split, Normalize normalize) {
  std::vector<InputFile> files = open_batches(directory, split);
  Dataset dataset{.name = "cifar10", .classes = classes, .shape = {channels, 32, 32}};
  dataset.count = static_cast<long>(files.size()) * batch_records;
  dataset.read_images = [files, normalize](long first, std::span<float> values) {
    read_images(files, first, normalize, values);
  };
  dataset.read_labels = [files](long first, std::span<long> labels) {
    read_labels(files, first, labels);
  };
  return dataset;
}

}  // namespace lathe
