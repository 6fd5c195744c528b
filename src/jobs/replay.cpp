// replay.cpp: bundles made again as a job. Interface: replay.h.
#include "jobs/replay.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "compile/tuned.h"
#include "jobs/fit.h"
#include "jobs/made_from.h"

namespace lathe {
namespace {

std::optional<ReplayComparison> compared(const std::string& recipe, const std::string& folder) {
  std::string before = std::filesystem::path(recipe).parent_path().string();
  if (before.empty()) before = ".";
  if (!std::filesystem::exists(before + "/bundle.json")) return std::nullopt;
  ReplayComparison result{.folder = before};
  FileHashes was, is = bundle_files(folder);
  try {
    was = bundle_files(before);
  } catch (const UserError& error) {
    result.unreadable = error.what();
    return result;
  }
  result.all = was.size();
  for (const auto& [name, hash] : was) {
    if (is[name] == hash) ++result.same;
    if (is[name] != hash) result.others.push_back(name);
  }
  return result;
}

/// Returns the page about the search that lies beside a recipe; "" if there is none.
std::string page_beside(const std::string& recipe) {
  std::filesystem::path page = std::filesystem::path(recipe).replace_filename("report.html");
  return std::filesystem::exists(page) ? page.string() : "";
}

/// Fits the weights of the network again, if they were fitted.
std::optional<Graph> refitted(const Graph& network, const Remade& remade) {
  const std::optional<MadeWeights>& how = remade.making.fitted;
  if (!how) return std::nullopt;
  auto normalize = normalize_named(how->normalize);
  if (!normalize) fail("the recipe names a normalisation '{}', which there is not", how->normalize);
  FitOptions options;
  options.target = native_target();
  options.threads = processors();
  return fit_recipe(network, remade.recipe, load_dataset(how->data, Split::learnt, *normalize),
                    how->samples, options)
      .network;
}

}  // namespace

ReplayResult replay_bundle(const ReplayOptions& options, const JobListener& listener) {
  check_bundle_folder(options.folder);
  std::string path = recipe_file(options.recipe);
  Remade remade = read_making(path);
  const Making& making = remade.making;
  Graph network = load_made(making, options.network);
  if (making.machine != tuned_target(native_target())) {
    listener(JobWarning{fmt::format(
        "it was made on another machine, {}: it is compiled for that one", making.machine)});
  }
  CompileOptions how = options_of(making);
  how.progress = [&](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped before the bundle was written");
    listener(WorkDone{"nodes compiled", done, all});
  };
  std::optional<Graph> fitted = refitted(network, remade);
  std::optional<Graph> narrow =
      narrow_as_made(network, fitted ? *fitted : transformed(network, remade.recipe), remade);
  make_bundle(network, remade.recipe, making, how, options.folder, page_beside(path),
              fitted ? &*fitted : nullptr, narrow ? &*narrow : nullptr);
  return {making.origin.network, making.target.name, remade.recipe.size(),
          compared(path, options.folder)};
}

nlohmann::json to_json(const ReplayResult& made) {
  nlohmann::json result{
      {"network", made.network}, {"target", made.target}, {"layers", made.layers}};
  if (!made.comparison) return result;
  const ReplayComparison& with = *made.comparison;
  result["compared"] = {{"folder", with.folder}};
  if (!with.unreadable.empty()) {
    result["compared"]["unreadable"] = with.unreadable;
  } else {
    result["compared"]["same"] = with.others.empty();
    result["compared"]["files"] = with.all;
    result["compared"]["others"] = with.others;
  }
  return result;
}

}  // namespace lathe
