// runners.cpp: networks with one draw of their weights after the other. Interface: runners.h.
#include "compile/runners.h"

#include "compile/objects.h"
#include "compile/weights.h"
#include "graph/text.h"

namespace lathe {
namespace {

/// Returns a text that two graphs share only if they differ in nothing but the weights' data.
std::string key_of(const Graph& graph) {
  Graph bare = without_data(graph);
  // Text says how values depend on each other, and the hash what constants hold.
  return fmt::format("{} {:x}", fingerprint(print(bare)), structural_hash(bare));
}

}  // namespace

Runners::Runners(CompileOptions options, int threads)
    : options_(std::move(options)), threads_(threads) {
  options_.weights = WeightData::later;
}

Runner& Runners::of(const Graph& graph) {
  check_data(graph);
  auto at = known_.try_emplace(key_of(graph)).first;
  if (at->second) {
    at->second->load(graph);
  } else {
    at->second = std::make_unique<Runner>(compile(graph, options_), threads_, graph);
  }
  return *at->second;
}

}  // namespace lathe
