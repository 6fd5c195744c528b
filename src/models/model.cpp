// model.cpp: finding networks by name. Interface: model.h.
#include "models/model.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "base/error.h"

namespace lathe {
namespace {

constexpr long max_option = 1L << 20;

/// Counts the letters to insert, remove or replace to turn one name into the other.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Suggests the variant with the nearest name, unless even that one is far away.
std::string suggestion(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string nearest;
  size_t least = name.size() / 2 + 1;
  for (const Model& model : models::all()) {
    for (const Variant& variant : model.variants) {
      size_t distance = edit_distance(name, variant.name);
      if (distance < least) nearest = variant.name, least = distance;
    }
  }
  return nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
}

[[noreturn]] void fail_unknown(const std::string& name) {
  fail(
      "no network '{}'; {}'lathe list models' lists the built-in ones, and .onnx and .graph files "
      "are read too",
      name, suggestion(name));
}

const Model& find_model(const std::string& variant) {
  for (const Model& model : models::all()) {
    for (const Variant& v : model.variants) {
      if (v.name == variant) return model;
    }
  }
  fail_unknown(variant);
}

void check_option(const std::string& name, const char* option, long value) {
  if (value >= 1 && value <= max_option) return;
  fail("{}: the {} is {}; give a number from 1 to {}", name, option, value, max_option);
}

}  // namespace

Graph load_model(const std::string& name, const ModelOptions& options) {
  size_t colon = name.find(':');
  std::string variant = name.substr(0, colon);
  const Model& model = find_model(variant);
  if (model.argument.empty() && colon != std::string::npos) {
    fail("'{}' takes no argument; leave out '{}'", variant, name.substr(colon));
  }
  if (!model.argument.empty() && colon == std::string::npos) {
    fail("'{0}' needs an argument, {0}:{1}; for example {0}:{2}", variant, model.argument,
         model.example);
  }
  check_option(name, "batch", options.batch);
  if (options.classes) check_option(name, "number of classes", *options.classes);
  if (options.size) check_option(name, "size", *options.size);
  return model.build(name, options);
}

std::vector<ModelEntry> list_models() {
  std::vector<ModelEntry> entries;
  for (const Model& model : models::all()) {
    for (const auto& [name, summary] : model.variants) {
      bool plain = model.argument.empty();
      entries.push_back({plain ? name : name + ":" + model.argument,
                         plain ? name : name + ":" + model.example, summary});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const ModelEntry& a, const ModelEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace lathe
