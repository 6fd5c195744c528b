// pass.cpp: finding passes, and their usual sequence. Interface: pass.h.
#include "passes/pass.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/nearest.h"

namespace lathe {
namespace {

/// What compiling a network does to its graph, from the first pass to the last.
constexpr const char* usual[] = {
    // Before constants are folded: weights are no longer integers then.
    "FakeQuantizationToInteger",
    // What is left of scales then can be divided before the network runs, which the next one does.
    "FoldQuantizationScale",
    // Early, as the operands that it makes constants are what the next pass looks for.
    "FoldConstant",
    // Before fusing, which would hide a producer that can take a normalisation.
    "SimplifyInference",
    // After both, which make equal nodes; before fusing, which sees where a value has one user.
    "EliminateCommonSubexpr",
    // After equal nodes became one, which would undo it; before fusing, which it is for.
    "Recompute",
    "SliceStridedInput",
    "FuseOps",
    // After fusing: a view would be a chain's first member, and have one user only.
    "FuseViews",
    // For what the others left behind.
    "DeadCodeElimination",
    "OwnOutputs",
    // Before storage is chosen: what is inside a node lies nowhere.
    "FuseWindows",
    "AlterOpLayout",
    // After the layout is chosen: parts must lie as the whole does.
    "ConcatInPlace",
    // Last: a part of another value has no border of its own.
    "StorePadding",
};

/// Returns a name as it is compared: in lower case, without "_".
std::string plain(const std::string& name) {
  std::string result;
  for (char c : name) {
    if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// Returns the parts between commas, without spaces around them.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

/// Fails if a pass that knows nothing of storage comes after one that chooses it.
void check_order(const std::vector<std::string>& names) {
  const Pass* storing = nullptr;
  for (const std::string& name : names) {
    const Pass& pass = find_pass(name);
    if (storing != nullptr && pass.stage == Pass::Stage::graph) {
      fail("'{}' cannot come after '{}', which chooses where values lie", pass.name, storing->name);
    }
    if (storing == nullptr && pass.stage == Pass::Stage::storage) storing = &pass;
  }
}

}  // namespace

Pass passes::without_work(const std::string& name, const std::string& summary,
                          const std::string& why) {
  auto unchanged = [](const Graph& graph, const PassContext&) { return graph; };
  return {name, summary, unchanged, Pass::Stage::graph, why};
}

bool is_rewrite(const Pass& pass) { return pass.never.empty() && !pass.adds_outputs; }

const Pass& find_pass(const std::string& name) {
  std::vector<std::string> known;
  for (const Pass& pass : passes::all()) {
    if (plain(pass.name) == plain(name)) return pass;
    known.push_back(pass.name);
  }
  fail("no pass '{}'; the nearest is {}, 'lathe list passes' has all", name, nearest(name, known));
}

std::vector<std::string> usual_passes() { return {std::begin(usual), std::end(usual)}; }

std::vector<std::string> usual_passes(Pass::Stage stage) {
  std::vector<std::string> names = usual_passes();
  std::erase_if(names, [&](const std::string& name) { return find_pass(name).stage != stage; });
  return names;
}

std::vector<std::string> parse_passes(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& name : parts_of(list)) names.push_back(find_pass(name).name);
  check_order(names);
  return names;
}

Graph after_passes(const Graph& graph, const std::vector<std::string>& names,
                   const PassContext& context,
                   const std::function<void(const Pass&, const Graph&)>& after) {
  check_order(names);
  Graph result = graph;
  for (const std::string& name : names) {
    const Pass& pass = find_pass(name);
    try {
      result = pass.run(result, context);
      verify(result);
    } catch (const UserError& error) {
      fail("pass {}: {}", pass.name, error.what());
    }
    if (after) after(pass, result);
  }
  return result;
}

}  // namespace lathe
