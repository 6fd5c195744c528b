// replay.cpp: "lathe replay FILE.recipe -o FOLDER": makes a bundle again, byte for byte.
#include <filesystem>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/verb_network.h"
#include "compile/tuned.h"
#include "jobs/fit.h"
#include "jobs/made_from.h"

namespace lathe::cli {
namespace {

struct ReplayArgs {
  std::string recipe, folder, network;
};

/// Says how a bundle stands beside the one that the recipe is of, if it is in one.
void print_comparison(const std::string& recipe, const std::string& folder) {
  std::string before = std::filesystem::path(recipe).parent_path().string();
  if (before.empty()) before = ".";
  if (!std::filesystem::exists(before + "/bundle.json")) return;
  FileHashes was, is = bundle_files(folder);
  try {
    was = bundle_files(before);
  } catch (const UserError& error) {
    fmt::print("it is not compared: {}\n", error.what());
    return;
  }
  size_t same = 0;
  std::string others;
  for (const auto& [name, hash] : was) {
    if (is[name] == hash) ++same;
    if (is[name] != hash) others += " " + name;
  }
  if (others.empty()) {
    fmt::print("all {} files are those of {}, byte for byte\n", same, before);
  } else {
    fmt::print("{} of {} files are those of {}; these are not:{}\n", same, was.size(), before,
               others);
  }
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

int run_replay(const ReplayArgs& options) {
  check_bundle_folder(options.folder);
  std::string path = recipe_file(options.recipe);
  Remade remade = read_making(path);
  const Making& making = remade.making;
  Graph network = load_made(making, options.network);
  std::string here = tuned_target(native_target());
  if (making.machine != here) {
    fmt::print(stderr, "lathe: it was made on another machine, {}: it is compiled for that one\n",
               making.machine);
  }
  CompileOptions how = options_of(making);
  {
    ProgressBar bar("compiling");
    how.progress = [&](size_t n, size_t all) { bar.show(n, all); };
    std::optional<Graph> fitted = refitted(network, remade);
    std::optional<Graph> narrow =
        narrow_as_made(network, fitted ? *fitted : transformed(network, remade.recipe), remade);
    make_bundle(network, remade.recipe, making, how, options.folder, page_beside(path),
                fitted ? &*fitted : nullptr, narrow ? &*narrow : nullptr);
  }
  fmt::print("{}: {}, {} layers changed, for {}\n", options.folder, making.origin.network,
             remade.recipe.size(), making.target.name);
  print_comparison(path, options.folder);
  return 0;
}

std::function<int()> set_up_replay(Command& app) {
  auto options = std::make_shared<ReplayArgs>();
  app.add_option("RECIPE", options->recipe, "the winner.recipe of a bundle, or the bundle's folder")
      ->required();
  app.add_option("-o,--output FOLDER", options->folder,
                 "the folder to write: a new one, or a bundle")
      ->required()
      ->writes();
  app.add_option("--network FILE", options->network,
                 "where the network's file is now, if it was moved");
  return [options] { return run_replay(*options); };
}

}  // namespace

Verb replay() {
  return {"replay", "make the bundle of a search again from its recipe", set_up_replay,
          "lathe replay runs/r18/bundle -o again"};
}

}  // namespace lathe::cli
