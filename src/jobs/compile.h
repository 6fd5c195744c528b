// A network written as a library, as a job: with the schedules that were tuned on this machine, or
// with those of a recipe.
//
//   CompileJobOptions options{.network = {.network = "model.onnx"}, .folder = "out"};
//   CompileJobResult made = compile_network(options);
//   made.name                                  "model": the first word of the library's functions
#pragma once

#include "compile/library.h"
#include "jobs/precision.h"

namespace lathe {

struct CompileJobOptions {
  NetworkArguments network;
  std::string folder;  ///< to write: a new one, or one that Lathe wrote
  std::string target = "native";
  std::string recipe;  ///< of a bundle, whose schedules are taken; "": those that were tuned
  int threads = 0;     ///< 0: one, or as many as a recipe says
  LibraryOptions library;
  std::vector<std::string> also;  ///< shapes: "batch=8", "size=64", "x=8x3x224x224"
  bool thorough = false;
  bool tuned = true;  ///< use what tuning found
  std::vector<std::string> passes = usual_passes();
  double max_error = any_error;
  Precision precision = Precision::f32;
  CalibrationSource calibration;
};

/// How many units of work of a network there are, and those that a recipe does not know.
struct KnownSchedules {
  size_t units = 0;
  std::vector<std::string> unknown;
};

struct CompileJobResult {
  std::string name;        ///< the first word of the library's functions
  Graph original, narrow;  ///< before and after its precision was changed
  LayerPrecisions precisions;
  std::vector<std::string> kept;            ///< layers that stay f32, and why
  std::optional<KnownSchedules> schedules;  ///< of the recipe, if there was one
};

/// Loads a network for other shapes: "batch=8", "size=64", "x=8x3x224x224", or several of them with
/// commas between. A file gets another batch size by being written for it.
Graph load_for_shapes(NetworkArguments network, const std::string& shapes);

/// Lets what is compiled use what tuning found for its target and so many workers. The listener is
/// warned if that cannot be read.
void use_tuned(CompileOptions& options, int threads, const JobListener& listener = {});

/// Compiles, and writes the folder. Fails if it was stopped.
CompileJobResult compile_network(CompileJobOptions options, const JobListener& listener = {});

}  // namespace lathe
