// ready.cpp: the passes before a graph is compiled. Interface: ready.h.
#include "compile/ready.h"

#include <algorithm>

namespace lathe {
namespace {

constexpr const char* needed = "OwnOutputs";

}  // namespace

Graph simplified(const Graph& graph, long workers) {
  return after_passes(graph, usual_passes(Pass::Stage::graph), {.workers = workers});
}

Graph stored(const Layouts& layouts, const LayoutChoice& choice) {
  PassContext chosen;
  chosen.layouts = [&](const std::string&) { return choice; };
  return after_passes(layouts.graph, usual_passes(Pass::Stage::storage), chosen);
}

Graph ready_to_compile(const Graph& graph, const PassContext& context,
                       std::vector<std::string> passes) {
  if (std::find(passes.begin(), passes.end(), needed) == passes.end()) {
    auto place = std::find_if(passes.begin(), passes.end(), [](const std::string& name) {
      return find_pass(name).stage == Pass::Stage::storage;
    });
    passes.insert(place, needed);
  }
  return after_passes(graph, passes, context);
}

PassContext context_of(const CompileOptions& options) {
  return {options.target.workers, options.memory, options.layouts};
}

}  // namespace lathe
