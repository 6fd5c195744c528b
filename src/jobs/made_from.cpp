// made_from.cpp: where a network came from. Interface: made_from.h.
#include "jobs/made_from.h"

#include <filesystem>

#include "base/error.h"
#include "data/file.h"
#include "jobs/precision.h"

namespace lathe {
namespace {

void check_file(const MadeFrom& origin, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    fail("the network's file '{}' is not there; --network FILE says where it is now", path);
  }
  if (hash_of_file(path) != origin.file) {
    fail("'{}' is not the file that the recipe was found for: its bytes are others", path);
  }
}

}  // namespace

MadeFrom origin_of(const NetworkArguments& arguments) {
  MadeFrom origin{arguments.network, ""};
  if (is_network_file(arguments.network)) origin.file = hash_of_file(arguments.network);
  origin.shapes = arguments.shapes;
  for (const std::string& text : arguments.recipes) {
    origin.applied.push_back(load_network_recipe("--apply", text));
  }
  origin.model = arguments.model;
  return origin;
}

Graph load_made(const Making& making, const std::string& file) {
  const MadeFrom& origin = making.origin;
  if (origin.file.empty() && !file.empty()) {
    fail("--network {}: the recipe is for '{}', which is built in", file, origin.network);
  }
  NetworkArguments arguments;
  arguments.network = file.empty() ? origin.network : file;
  if (!origin.file.empty()) check_file(origin, arguments.network);
  arguments.shapes = origin.shapes;
  arguments.model = origin.model;
  Graph network = load_network(arguments);
  for (const NetworkRecipe& recipe : origin.applied) network = transformed(network, recipe);
  if (structural_hash(network) != making.graph) {
    fail("'{}' is not the network that the recipe was found for: this Lathe builds it otherwise",
         origin.network);
  }
  return network;
}

std::optional<Graph> narrow_as_made(const Graph& original, const Graph& changed,
                                    const Remade& remade) {
  const std::optional<MadePrecision>& how = remade.making.precision;
  if (!how) return std::nullopt;
  PrecisionOptions options;
  options.precisions = precisions_in(original, remade.recipe, how->others);
  if (!how->data.empty()) {
    auto normalize = normalize_named(how->normalize);
    if (!normalize) {
      fail("the recipe names a normalisation '{}', which there is not", how->normalize);
    }
    options.calibration.data = how->data;
    options.calibration.normalize = *normalize;
    options.calibration.images = how->images;
  }
  return with_precision(initialised(changed, remade.making.seed), options).network;
}

std::string recipe_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path name = "winner.recipe";
  fs::path file = fs::is_directory(path, ignored) ? fs::path(path) / name : fs::path(path);
  fs::path in_bundle = file.parent_path() / "bundle" / name;
  bool of_search = !fs::exists(file, ignored) && fs::exists(in_bundle, ignored);
  return (of_search ? in_bundle : file).string();
}

}  // namespace lathe
