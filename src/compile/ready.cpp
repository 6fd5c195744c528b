// ready.cpp: the passes before a graph is compiled. Interface: ready.h.
#include "compile/ready.h"

#include <algorithm>

#include "codegen/dots.h"

namespace lathe {
namespace {

constexpr const char* needed = "OwnOutputs";

}  // namespace

Graph simplified(const Graph& graph, const PassContext& context) {
  return after_passes(graph, usual_passes(Pass::Stage::graph), context);
}

Graph stored(const Layouts& layouts, const LayoutChoice& choice) {
  std::vector<std::string> others = usual_passes(Pass::Stage::storage);
  std::erase(others, "AlterOpLayout");  // which would look for layouts once more
  return after_passes(with_layouts(layouts, choice), others);
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
  Element data = dot_data(options.target);
  long terms = std::max(1L, terms_of_dot(options.target, Element::i8, data));
  // Threads side by side read what lies side by side: positions, of which there are more.
  auto usual = options.target.has_warps() ? PassContext::Usual::plain : PassContext::Usual::blocks;
  return {options.target.workers,         options.memory, options.layouts, data, terms, usual,
          options.target.cpu.vector_bytes};
}

}  // namespace lathe
