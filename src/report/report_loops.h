// The loops of layers, before and after their recipes, as "lathe explain" prints them.
//
//   LayerLoops loops = LoopPrinter(graph).print("layer1.0.conv1", "group(2)");
//   loops.after                                  for co < 16: for ci < 8: ...
#pragma once

#include <map>
#include <string>

#include "graph/graph.h"

namespace lathe {

/// Loops as text. If they cannot be made, the remark says why.
struct LayerLoops {
  std::string before, after, remark;
};

class LoopPrinter {
 public:
  /// "network" is as it was, and must outlive this.
  explicit LoopPrinter(const Graph& network) : network_(network) {}

  /// Returns the loops of a layer, and those that a recipe, given as text, makes of it. Loops of
  /// equal layers are made once.
  const LayerLoops& print(const std::string& layer, const std::string& recipe);

 private:
  const Graph& network_;
  std::map<std::string, LayerLoops> known_;
};

}  // namespace lathe
