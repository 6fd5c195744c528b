// model.cpp: finding networks by name. Interface: model.h.
#include "models/model.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/nearest.h"

namespace lathe {
namespace {

constexpr long max_option = 1L << 20;

/// Suggests the variant with the nearest name, unless even that one is far away.
std::string suggestion(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> names;
  for (const Model& model : models::all()) {
    for (const Variant& variant : model.variants) names.push_back(variant.name);
  }
  std::string meant = nearest(name, names);
  bool far = edit_distance(name, meant) > name.size() / 2;
  return far ? "" : fmt::format("did you mean '{}'? ", meant);
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
