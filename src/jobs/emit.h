// What the compiler makes of a nest, of a layer of a network, or of its graph, at any stage, as a
// job.
//
//   emit({.nest = "matmul(i=8, j=8, k=8)", .at = "loops"}).text
//   emit({.network = {.network = "resnet18"}, .layer = "layer1.0.conv1", .at = "asm"}).text
//   emit({.network = {.network = "resnet18"}, .at = "graph", .after = "FuseOps"}).text
#pragma once

#include "jobs/event.h"
#include "jobs/network_source.h"
#include "legality/legality.h"

namespace lathe {

struct EmitOptions {
  // One of these two:
  std::string nest;  ///< an operator, or a .nest file
  NetworkArguments network{.network = ""};
  std::string layer;  ///< of the network; "" for its graph
  std::string recipe;
  Limits limits = {};
  std::string at = "loops";  ///< a stage, as emitted_stages() names it
  std::string target = "native";
  int threads = 1;
  bool tuned = true;          ///< use what tuning found
  std::string passes, after;  ///< of a graph: those that run, in order, and the last of them
  bool diff = false;          ///< of a graph: what that pass changed
};

/// A step that was refused, and why.
struct RefusedStep {
  Step step;
  Verdict verdict;
};

struct Emitted {
  std::string text;
  std::optional<RefusedStep> refused = {};  ///< a step of the recipe; then there is no text
};

/// Returns the stages of the compiler, in order: the last are the languages of backends.
std::vector<std::string> emitted_stages();

/// Compiles up to a stage. Fails if options do not go together.
Emitted emit(const EmitOptions& options, const JobListener& listener = {});

}  // namespace lathe
