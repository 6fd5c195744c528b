// pass.cpp: finding passes, and their usual sequence. Interface: pass.h.
#include "passes/pass.h"

#include "base/error.h"
#include "passes/pass_recompute.h"

namespace lathe {

const Pass& find_pass(const std::string& name) {
  std::string known;
  for (const Pass& pass : passes::all()) {
    if (pass.name == name) return pass;
    known += " " + pass.name;
  }
  fail("no pass '{}'; passes here:{}", name, known);
}

Graph optimised(const Graph& graph, long memory) {
  static const char* const sequence[] = {
      // First, as the operands that it makes constants are what the next pass looks for.
      "fold_constant",
      // Before fusing, which would hide a producer that can take a normalisation.
      "simplify_inference",
      // After both, which make equal nodes; before fusing, which sees where a value has one user.
      "eliminate_common_subexpr",
      // After equal nodes became one, which would undo it; before fusing, which it is for.
      "recompute",
      "slice_strided_input",
      "fuse_ops",
      // After fusing: a view would be a chain's first member, and have one user only.
      "fuse_views",
      // Last, for what the others left behind.
      "dead_code_elimination",
  };
  Graph result = graph;
  for (const std::string name : sequence) {
    result = name == "recompute" ? recomputed(result, memory) : find_pass(name).run(result);
  }
  return result;
}

}  // namespace lathe
