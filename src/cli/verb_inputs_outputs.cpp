// verb_inputs_outputs.cpp: inputs from files and outputs to people. Interface:
// verb_inputs_outputs.h.
#include "cli/verb_inputs_outputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "data/file.h"
#include "data/image.h"
#include "data/npy.h"
#include "onnx/onnx.h"
#include "program/random_inputs.h"

namespace lathe {
namespace {

bool is_image(const std::string& path) {
  for (const char* ending : {".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

std::optional<uint64_t> random_seed(const std::string& what) {
  if (!what.starts_with("random")) return std::nullopt;
  if (what == "random") return 0;
  uint64_t seed = 0;
  const char* begin = what.data() + 7;
  auto [end, error] = std::from_chars(begin, what.data() + what.size(), seed);
  if (what[6] != ':' || error != std::errc() || end != what.data() + what.size()) {
    fail("--input {}: write it as random:SEED, as in random:1", what);
  }
  return seed;
}

/// Gives every option without a name the next name that is left.
void give_names(std::vector<NamedOption>& list, const std::vector<std::string>& names,
                const char* what) {
  for (const NamedOption& a : list) {
    if (!a.name.empty() && std::find(names.begin(), names.end(), a.name) == names.end()) {
      fail("there is no {} '{}'; there are: {}", what, a.name, fmt::join(names, ", "));
    }
  }
  for (NamedOption& a : list) {
    for (size_t i = 0; a.name.empty() && i < names.size(); ++i) {
      bool taken = std::any_of(list.begin(), list.end(),
                               [&](const NamedOption& other) { return other.name == names[i]; });
      if (!taken) a.name = names[i];
    }
    if (a.name.empty()) fail("--{} {}: the network has no more {}s", what, a.what, what);
  }
}

Array image_input(const std::string& path, const CompiledFace& face, const std::string& normalize) {
  const Shape& shape = face.type.shape;
  if (shape.size() != 4 || shape[0] != 1 || shape[1] != 3 || face.type.element != Element::f32) {
    fail("input '{}' is {}: an image is f32[1x3xROWSxCOLUMNS]", face.name, print_type(face.type));
  }
  return as_input(read_image(path), shape[2], shape[3], *normalize_named(normalize));
}

/// Is an output of this type a score for each class of one sample?
bool is_classes(const Type& type) {
  return is_float(type.element) && count_of(type.shape) >= 10 && !type.shape.empty() &&
         type.shape.back() == count_of(type.shape);
}

/// Returns where the largest values are, the largest first. What is no number is none of them.
std::vector<size_t> largest(const std::vector<double>& values, size_t count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<long>(count), order.end(),
      [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(count);
  return order;
}

}  // namespace

void print_output(const std::string& name, const Array& output,
                  const std::vector<std::string>& labels) {
  fmt::print("{}: {}", name, print_type({output.element(), output.shape()}));
  if (output.count() == 0 || output.element() == Element::string) {
    fmt::print("\n");
    return;
  }
  std::vector<double> values = output.reals(), numbers;
  std::copy_if(values.begin(), values.end(), std::back_inserter(numbers),
               [](double x) { return !std::isnan(x); });
  if (size_t missing = values.size() - numbers.size(); missing > 0) {
    fmt::print("  {} of {} are NaN{}", missing, values.size(), numbers.empty() ? "\n" : ";");
  }
  if (numbers.empty()) return;
  auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  double mean =
      std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  fmt::print("  from {:.6g} to {:.6g}, mean {:.6g}\n", *low, *high, mean);
  if (!is_classes({output.element(), output.shape()})) return;
  for (size_t i : largest(values, 5)) {
    fmt::print("  {:>6}  {:>12.6g}{}\n", i, values[i],
               i < labels.size() ? "  " + labels[i] : std::string());
  }
}

std::vector<NamedOption> parse_named_options(const std::vector<std::string>& texts,
                                             const std::vector<std::string>& names,
                                             const char* what) {
  std::vector<NamedOption> list;
  for (const std::string& text : texts) {
    size_t at = text.find('=');
    list.push_back(at == std::string::npos ? NamedOption{"", text}
                                           : NamedOption{text.substr(0, at), text.substr(at + 1)});
  }
  give_names(list, names, what);
  return list;
}

std::vector<std::string> names_of(const std::vector<CompiledFace>& faces) {
  std::vector<std::string> names;
  for (const CompiledFace& face : faces) names.push_back(face.name);
  return names;
}

Array read_array(const std::string& path) {
  if (path.ends_with(".npy")) return read_npy(path);
  if (path.ends_with(".pb")) return read_tensor(path);
  fail("--input {}: give an .npy or .pb file, an image (.png, .jpg), or random:SEED", path);
}

std::vector<Array> gather_inputs(const std::vector<CompiledFace>& faces,
                                 const std::vector<std::string>& texts,
                                 const std::string& normalize,
                                 const std::map<std::string, Array>& known,
                                 const std::map<std::string, long>& below) {
  std::vector<NamedOption> list = parse_named_options(texts, names_of(faces), "input");
  std::vector<Array> inputs;
  for (const CompiledFace& face : faces) {
    auto given = std::find_if(list.begin(), list.end(),
                              [&](const NamedOption& a) { return a.name == face.name; });
    if (auto found = known.find(face.name); found != known.end()) {
      inputs.push_back(found->second);
    } else if (given == list.end()) {
      fail("input '{}' ({}) is missing; give --input {}=FILE.npy or --input {}=random:1", face.name,
           print_type(face.type), face.name, face.name);
    } else if (auto seed = random_seed(given->what)) {
      auto range = below.find(face.name);
      inputs.push_back(random_array(face.type, range == below.end() ? any_whole : range->second,
                                    *seed, face.name));
    } else if (is_image(given->what)) {
      inputs.push_back(image_input(given->what, face, normalize));
    } else {
      inputs.push_back(read_array(given->what));
    }
  }
  return inputs;
}

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  std::istringstream file(read_file(path));
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  return labels;
}

void check_labels(const std::string& path, const std::vector<std::string>& labels, long classes) {
  if (static_cast<long>(labels.size()) <= classes) return;
  fail("'{}' has the names of {} classes, but the network has {}", path, labels.size(), classes);
}

long classes_of(const std::vector<CompiledFace>& outputs) {
  long classes = 0;
  for (const CompiledFace& output : outputs) {
    if (is_classes(output.type)) classes = std::max(classes, count_of(output.type.shape));
  }
  return classes;
}

nlohmann::json to_json(const std::string& name, const Array& output) {
  nlohmann::json json{{"name", name}, {"type", print_type({output.element(), output.shape()})}};
  if (output.element() == Element::string) {
    json["values"] = output.strings();
  } else if (is_integral(output.element())) {
    json["values"] = output.integers();
  } else {
    json["values"] = output.reals();
  }
  return json;
}

}  // namespace lathe
