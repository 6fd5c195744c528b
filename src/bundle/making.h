// How a bundle was made: all that is needed to make it again, byte for byte.
//
//   make_bundle(network, recipe, making, options, "out");         winner.recipe has it as "made"
//   Remade again = read_making("out/winner.recipe");
//   make_bundle(load(again.making.origin), again.recipe, again.making, options_of(again.making),
//               "again");
//
// What was tuned is part of it, as the schedules and layouts that the compiler was told: the code
// is the same where the database of tuning is another.
#pragma once

#include "bundle/bundle.h"
#include "compile/choices.h"
#include "models/model.h"

namespace lathe {

/// Where a network came from, as a user said it.
struct MadeFrom {
  std::string network;                      ///< a name, or the path of a file
  std::string file;                         ///< the hash of the file (data/file.h); "" for a name
  std::vector<std::string> shapes = {};     ///< of its inputs: "x=1x3x32x32"
  std::vector<NetworkRecipe> applied = {};  ///< what was done to it before, one after the other
  ModelOptions model = {};
};

/// How a bundle was made.
struct Making {
  MadeFrom origin;
  uint64_t graph = 0;  ///< structural hash of the network that the recipe is for
  /// The same of its operators and types alone: whatever its weights are (structure_of()).
  std::string structure = {};
  uint64_t seed = 0;  ///< of weights that nobody trained
  Target target = {};
  std::string machine = {};  ///< that it was made on (tuned_target())
  Effort effort = Effort::quick;
  double max_error = any_error;
  RecordedChoices choices = {};  ///< filled in when the bundle is made
  nlohmann::json about = {};
};

/// Converts to and from JSON. Fails where something is missing, and says what.
nlohmann::json to_json(const Making& making);
Making making_from_json(const nlohmann::json& json);

/// What a file winner.recipe says.
struct Remade {
  NetworkRecipe recipe;
  Making making;
};

/// Returns how the bundle of a recipe was made; nothing where the file is a recipe and no more.
std::optional<Making> making_in(const std::string& path);

/// Reads such a file. Fails where it is a recipe and no more.
Remade read_making(const std::string& path);

/// Names what a network with weights is made of, as it is compiled: neither names nor data count.
std::string structure_of(const Graph& network);

/// Returns the options to compile with, choices included.
CompileOptions options_of(const Making& making);

/// Applies the recipe to a network, compiles what it makes and writes the bundle, with the page
/// about the search if there is one. Of the making, what the graph and the options say is filled
/// in.
void make_bundle(const Graph& network, const NetworkRecipe& recipe, Making making,
                 const CompileOptions& options, const std::string& folder,
                 const std::string& report = "");

}  // namespace lathe
