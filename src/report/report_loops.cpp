// report_loops.cpp: loops of layers. Interface: report_loops.h.
#include "report/report_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/loops.h"
#include "ops/op.h"
#include "poly/isl.h"
#include "transforms/transform.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

constexpr size_t most_lines = 80;

/// Returns a text, or as many of its lines as are read, and how many more there are.
std::string cut(const std::string& text) {
  size_t end = 0, lines = 0;
  for (; lines < most_lines && end != std::string::npos; ++lines) end = text.find('\n', end + 1);
  if (end == std::string::npos || end + 1 >= text.size()) return text;
  auto more = std::count(text.begin() + static_cast<long>(end) + 1, text.end(), '\n');
  return fmt::format("{}\n... and {} lines more", text.substr(0, end), more);
}

LayerLoops loops_of(const Call& call, const std::string& recipe) {
  Context context;
  // As it is for transformed(): recipes see the loop over samples innermost.
  Nest nest = samples_inward(nest_of(context, call));
  LayerLoops loops{cut(print(scan(nest))), "", ""};
  if (recipe.empty()) return loops;
  for (const Step& step : parse_recipe(recipe)) nest = apply(nest, step).nest;
  loops.after = cut(print(scan(nest)));
  return loops;
}

}  // namespace

const LayerLoops& LoopPrinter::print(const std::string& layer, const std::string& recipe) {
  auto node = std::find_if(network_.nodes.begin(), network_.nodes.end(),
                           [&](const Node& each) { return each.name == layer; });
  if (node == network_.nodes.end()) {
    return known_["no " + layer] = {"", "", "The network has no layer of this name."};
  }
  Call call = call_of(network_, *node);
  auto [found, is_new] = known_.try_emplace(lathe::print(call) + ": " + recipe);
  if (!is_new) return found->second;
  try {
    found->second = loops_of(call, recipe);
  } catch (const UserError& error) {
    found->second.remark = error.what();
  }
  return found->second;
}

}  // namespace lathe
