// How a bundle was made: all that is needed to make it again, byte for byte.
//
//   make_bundle(network, recipe, making, options, "out");         winner.recipe has it as "made"
//   Remade again = read_making("out/winner.recipe");
//   make_bundle(load(again.making.origin), again.recipe, again.making, options_of(again.making),
//               "again");
//
// The schedules and layouts that tuning chose are part of it. So the code is the same, whatever is
// in the database of tuning when the bundle is made again.
#pragma once

#include "bundle/bundle.h"
#include "compile/choices.h"
#include "models/model.h"
#include "transforms/transform_precision.h"

namespace lathe {

/// Where a network came from, as a user said it.
struct MadeFrom {
  std::string network;                      ///< a name, or the path of a file
  std::string file;                         ///< the hash of the file (data/file.h); "" for a name
  std::vector<std::string> shapes = {};     ///< of its inputs: "x=1x3x32x32"
  std::vector<NetworkRecipe> applied = {};  ///< what was done to it before, one after the other
  ModelOptions model = {};
};

/// What the weights of a changed network were fitted to (jobs/fit.h).
struct MadeWeights {
  std::string data, normalize;
  long samples = 0;
};

/// How precisely the network of a bundle computes, beyond what its recipe says of layers.
struct MadePrecision {
  Precision others = Precision::f32;  ///< of layers that the recipe says nothing of
  std::string data, normalize;        ///< that integers were made for; "": none
  long images = 0;
};

/// How a bundle was made.
struct Making {
  MadeFrom origin;
  uint64_t graph = 0;  ///< structural hash of the network that the recipe is for
  /// A hash of its operators and types alone, without its weights (structure_of()).
  std::string structure = {};
  uint64_t seed = 0;  ///< of weights that nobody trained
  Target target = {};
  std::string machine = {};  ///< that it was made on (tuned_target())
  std::string host = {};     ///< the CPU beside a GPU (LibraryOptions); "": like that machine's
  Effort effort = Effort::quick;
  double max_error = any_error;
  std::optional<MadeWeights> fitted = std::nullopt;  ///< none: weights are as the steps left them
  /// None: it computes in f32.
  std::optional<MadePrecision> precision = std::nullopt;
  RecordedChoices choices = {};  ///< filled in when the bundle is made
  nlohmann::json about = {};
};

/// Converts to and from JSON. Fails if something is missing, and says what.
nlohmann::json to_json(const Making& making);
Making making_from_json(const nlohmann::json& json);

/// What a file winner.recipe says.
struct Remade {
  NetworkRecipe recipe;
  Making making;
};

/// Returns how the bundle of a file winner.recipe was made; nothing if the file is only a recipe.
std::optional<Making> making_in(const std::string& path);

/// Reads a file winner.recipe. Fails if it is only a recipe.
Remade read_making(const std::string& path);

/// Returns a hash of a network's structure, as it is compiled. Names and data do not count.
std::string structure_of(const Graph& network);

/// Returns the options to compile with, choices included.
CompileOptions options_of(const Making& making);

/// Applies the recipe to a network, compiles the result and writes the bundle, with the page about
/// the search if there is one. Fills in those parts of "making" that follow from the network and
/// the options.
///
/// "changed" is the network with the recipe applied, if its weights were fitted. "narrow" is what
/// is compiled, if that computes less precisely; what is exported and trained does not.
void make_bundle(const Graph& network, const NetworkRecipe& recipe, Making making,
                 const CompileOptions& options, const std::string& folder,
                 const std::string& report = "", const Graph* changed = nullptr,
                 const Graph* narrow = nullptr);

}  // namespace lathe
