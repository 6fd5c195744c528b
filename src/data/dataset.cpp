// dataset.cpp: the specifications of datasets, and what all their sources share. Interface:
// dataset.h.
#include "data/dataset.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <optional>
#include <string_view>

#include "base/number.h"
#include "data/dataset_sources.h"

namespace lathe {
namespace {

constexpr std::string_view usage =
    "there are synthetic:SEED, synthetic:SEED,COUNT, cifar10:DIR, npy:X.npy,Y.npy and, without "
    "labels, npy:X.npy";

/// Returns the parts before and after the only "separator", or nothing where it is not only one.
std::optional<std::pair<std::string, std::string>> split_at(std::string_view text, char separator) {
  size_t at = text.find(separator);
  if (at == std::string_view::npos || text.find(separator, at + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

/// Reads a number of a specification, which must be "lowest" or more.
template <class T>
T number_of(std::string_view text, const std::string& spec, T lowest) {
  std::optional<T> value = number_in<T>(text);
  if (!value || *value < lowest) {
    fail("the dataset '{}' has '{}' where a number from {} on is expected; {}", spec, text, lowest,
         usage);
  }
  return *value;
}

Dataset load_synthetic(const std::string& spec, const std::string& arguments, Split split,
                       Normalize normalize) {
  size_t comma = arguments.find(',');
  long count = split == Split::train ? 50000 : 10000;  // as CIFAR-10
  if (comma != std::string::npos) {
    count = number_of<long>(std::string_view(arguments).substr(comma + 1), spec, 1);
  }
  auto seed = number_of<uint64_t>(std::string_view(arguments).substr(0, comma), spec, 0);
  return synthetic_dataset({seed, count, split, normalize});
}

/// Returns the samples of a dataset that are listed, as one.
Dataset with_samples(const Dataset& all, const std::vector<long>& listed) {
  Dataset result = all;
  result.count = static_cast<long>(listed.size());
  auto size = static_cast<size_t>(count_of(all.shape));
  result.read_images = [all, listed, size](long first, std::span<float> values) {
    for (size_t i = 0; i * size < values.size(); ++i) {
      all.read_images(listed[static_cast<size_t>(first) + i], values.subspan(i * size, size));
    }
  };
  if (all.read_labels) {
    result.read_labels = [all, listed](long first, std::span<long> labels) {
      for (size_t i = 0; i < labels.size(); ++i) {
        all.read_labels(listed[static_cast<size_t>(first) + i], labels.subspan(i, 1));
      }
    };
  }
  for (Dataset& other : result.others) other = with_samples(other, listed);
  if (all.in_form) {
    result.in_form = [all, listed](const SampleForm& form) {
      return with_samples(all.in_form(form), listed);
    };
  }
  return result;
}

/// Returns the samples that are not listed, in order.
std::vector<long> others(const std::vector<long>& listed, long count) {
  std::vector<bool> is_listed(static_cast<size_t>(count), false);
  for (long i : listed) is_listed[static_cast<size_t>(i)] = true;
  std::vector<long> result;
  for (long i = 0; i < count; ++i) {
    if (!is_listed[static_cast<size_t>(i)]) result.push_back(i);
  }
  return result;
}

void check_range(const Dataset& dataset, long first, long number) {
  if (first < 0 || number < 0 || first > dataset.count || number > dataset.count - first) {
    fail("the dataset {} has {} images; {} from image {} on are too many", dataset.name,
         dataset.count, number, first);
  }
}

}  // namespace

Array Dataset::images(long first, long number) const {
  check_range(*this, first, number);
  Shape all = shape;
  all.insert(all.begin(), number);
  std::vector<float> values(static_cast<size_t>(count_of(all)));
  read_images(first, values);
  return Array::of<float>(all, values);
}

std::vector<long> Dataset::labels(long first, long number) const {
  if (!read_labels) fail("'{}' has no labels; name them, too: npy:X.npy,Y.npy", name);
  check_range(*this, first, number);
  std::vector<long> result(static_cast<size_t>(number));
  read_labels(first, result);
  return result;
}

std::vector<long> validation_samples(long count) {
  constexpr long most = 5000, of_each = 10;
  std::vector<long> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0L);
  std::mt19937 random(0);
  long held = count == 0 ? 0 : std::max(1L, std::min(most, count / of_each));
  for (long i = 0; i < held; ++i) {
    long other = i + static_cast<long>(random() % static_cast<unsigned long>(count - i));
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(other)]);
  }
  order.resize(static_cast<size_t>(held));
  return order;
}

Dataset load_dataset(const std::string& spec, Split split, Normalize normalize) {
  if (split == Split::validation || split == Split::learnt) {
    Dataset all = load_dataset(spec, Split::train, normalize);
    std::vector<long> held = validation_samples(all.count);
    return with_samples(all, split == Split::validation ? held : others(held, all.count));
  }
  size_t colon = spec.find(':');
  std::string kind = spec.substr(0, colon);
  std::string arguments = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (kind == "synthetic") return load_synthetic(spec, arguments, split, normalize);
  if (kind == "cifar10") {
    if (arguments.empty()) fail("the dataset '{}' lacks its directory; {}", spec, usage);
    return cifar10_dataset(arguments, split, normalize);
  }
  if (kind == "npy") {
    if (arguments.empty()) fail("the dataset '{}' lacks its files; {}", spec, usage);
    if (arguments.find(',') == std::string::npos) return npy_dataset(arguments, normalize);
    auto files = split_at(arguments, ',');
    if (!files) fail("the dataset '{}' names more than two files; {}", spec, usage);
    return npy_dataset(files->first, files->second, normalize);
  }
  fail("there is no dataset '{}'; {}", spec, usage);
}

void normalise_bytes(std::span<const uint8_t> bytes, long channels, long pixels,
                     Normalize normalize, std::span<float> values) {
  check(bytes.size() == values.size(), "each byte becomes one value");
  Statistics statistics = statistics_of(normalize);
  for (size_t i = 0; i < bytes.size(); ++i) {
    size_t c = i / static_cast<size_t>(pixels) % static_cast<size_t>(channels) % 3;
    float value = static_cast<float>(bytes[i]) / 255.0F;
    values[i] = (value - statistics.mean[c]) / statistics.deviation[c];
  }
}

}  // namespace lathe
