// Passes: rewrites of a whole graph that keep what it computes. Each file X.cpp of this folder
// defines one.
//
//   Graph folded = find_pass("FoldConstant").run(graph, {});
//   Graph ready = after_passes(graph, usual_passes(), {.workers = 2});
//
// A pass is a pure function of a graph and of what it may know. Inputs and outputs keep their
// names, types and order; what it returns is verified. Most compute exactly the same, but for the
// order of sums; the others say how far off they are.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/pass_layout.h"
#include "passes/pass_recompute.h"

namespace lathe {

/// What passes may know of where a graph will run.
struct PassContext {
  long workers = 1;
  long memory = any_memory;         ///< bytes that values may take
  LayoutChooser layouts = nullptr;  ///< null: as large blocks of channels as fit
  Element data = Element::i8;       ///< what integers products read best, besides weights of i8
  long terms = 1;                   ///< how many products of those an instruction adds up
  /// How values lie for which "layouts" has nothing.
  enum class Usual { blocks, plain };
  Usual usual = Usual::blocks;
  long vector_bytes = 16;  ///< that blocks of channels fill where they can
};

struct Pass {
  std::string name;     ///< "FoldConstant"
  std::string summary;  ///< one line
  Graph (*run)(const Graph&, const PassContext&);
  /// Passes that choose where values lie come after all others, which know nothing of that.
  enum class Stage { graph, storage } stage = Stage::graph;
  /// Why it changes no graph here, whatever the graph; "" if it may.
  std::string never = {};
  /// How far off a node's result may be that it changes: a part of the largest element that the
  /// node reads or computes. 0: not at all, but for the order of sums. What comes after may make it
  /// more.
  double tolerance = 0;
  /// Does a network have more outputs afterwards? Then it is no rewrite of what it was.
  bool adds_outputs = false;
};

/// Can a pass change a graph that computes the same afterwards, as far as its tolerance goes? Such
/// passes are the ones to choose from.
bool is_rewrite(const Pass& pass);

namespace passes {
/// Returns all passes, sorted by the names of their files.
const std::vector<Pass>& all();

/// Returns a pass of other compilers that can change no graph here, and why.
Pass without_work(const std::string& name, const std::string& summary, const std::string& why);
}  // namespace passes

/// Finds a pass by name. Neither case nor "_" matters: "fold_constant" is FoldConstant. An unknown
/// one gets an error that names the nearest.
const Pass& find_pass(const std::string& name);

/// Returns the names of the passes that every network gets before it is compiled, in their order;
/// all of them, or those of one stage.
std::vector<std::string> usual_passes();
std::vector<std::string> usual_passes(Pass::Stage stage);

/// Reads a list like "FoldConstant,FuseOps". Fails if a name is unknown, or if a pass comes after
/// one that it cannot come after.
std::vector<std::string> parse_passes(const std::string& list);

/// Runs passes one after the other. Errors name the pass. "after" is called with each result.
Graph after_passes(const Graph& graph, const std::vector<std::string>& names,
                   const PassContext& context = {},
                   const std::function<void(const Pass&, const Graph&)>& after = nullptr);

}  // namespace lathe
