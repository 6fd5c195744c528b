// What a search hands over: a folder with all that is needed to run, train and rebuild a network.
//
//   library/           compiled: libmodel.so, model.a, model.h, example.c (compile/library.h)
//   model.onnx         in standard operators
//   model.py, .npz     a PyTorch module to train, and its weights
//   train.py           a program that trains the module and writes trained.onnx
//   original.py, .npz  the network that it was made of, if that is trained: train.py's teacher
//   winner.recipe      what was done to each layer (transforms/transform_network.h), and how the
//                      bundle was made (making.h)
//   report.html        the page about the search, where there was one
//   bundle.json        what it was made of, by which version, and a hash of every file
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compile/compile.h"
#include "data/folder.h"
#include "transforms/transform_network.h"

namespace lathe {

struct Bundle {
  const Graph& graph;  ///< with its weights
  const Compiled& compiled;
  const NetworkRecipe& recipe;
  /// The trained network that it was made of; null: there is none.
  const Graph* original = nullptr;
  nlohmann::json about = {};  ///< for bundle.json: the network, seeds, verdicts, times, ...
  /// For winner.recipe: how it was made (making.h); null: not said.
  nlohmann::json made = nullptr;
  std::string host = "";    ///< the CPU that calls the library of a GPU; "": like this machine's
  std::string report = "";  ///< the path of a page about the search, which is copied; "": none
};

/// Writes the folder, all or nothing. It replaces the bundle of an earlier call, unless somebody
/// changed a file of that since: trained the weights, say. Other files in the folder stay. Any
/// other folder is refused unless it is empty, and so is a file.
void write_bundle(const Bundle& bundle, const std::string& folder);

/// Fails if write_bundle() would refuse the folder. Ask this before long work.
void check_bundle_folder(const std::string& folder);

/// Returns what bundle.json says. Fails if there is none, or if another version wrote it.
nlohmann::json read_bundle(const std::string& folder);

/// Returns the hashes that a bundle's files had when they were written.
FileHashes bundle_files(const std::string& folder);

}  // namespace lathe
