// relevance.cpp: see relevance.h.
#include "jobs/relevance.h"

#include <algorithm>

#include "base/error.h"

namespace lathe {
namespace {

/// Runs passes on one graph, and remembers what the first of two made of it.
class PassTrials {
 public:
  PassTrials(const Graph& graph, const PassContext& context) : context_(context) {
    Start start{graph, written_hash(graph)};
    starts_.emplace("", std::move(start));
  }

  /// Runs a pass after another one, or on the graph as it is (""). Returns whether that changes
  /// anything.
  bool changes(const std::string& before, const Pass& pass, PassRelevance& found) {
    const Start& start = starts_.at(before);
    Graph result = after_passes(start.graph, {pass.name}, context_);
    uint64_t hash = written_hash(result);
    if (hash == start.hash) return false;
    if (!found.is_relevant()) {
      found.nodes_before = start.graph.nodes.size();
      found.nodes_after = result.nodes.size();
    }
    if (before.empty() && pass.stage == Pass::Stage::graph) {
      starts_.emplace(pass.name, Start{std::move(result), hash});
    }
    return true;
  }

  /// Adds the graph after several passes as one to start from.
  void add(const std::string& name, const std::vector<std::string>& names) {
    Graph graph = after_passes(starts_.at("").graph, names, context_);
    uint64_t hash = written_hash(graph);
    starts_.insert_or_assign(name, Start{std::move(graph), hash});
  }

  std::vector<std::string> starts() const {
    std::vector<std::string> names;
    for (const auto& [name, start] : starts_) names.push_back(name);
    return names;
  }

 private:
  struct Start {
    Graph graph;
    uint64_t hash;
  };
  PassContext context_;
  std::map<std::string, Start> starts_;  ///< by the pass that made them
};

/// Returns the usual passes before one; all that know nothing of storage if it is none of them.
std::vector<std::string> usual_before(const Pass& pass) {
  std::vector<std::string> names = usual_passes();
  auto place = std::find(names.begin(), names.end(), pass.name);
  if (place == names.end()) return usual_passes(Pass::Stage::graph);
  names.erase(place, names.end());
  return names;
}

nlohmann::json relevance_to_json(const PassRelevance& each) {
  nlohmann::json json{{"pass", each.pass},
                      {"relevant", each.is_relevant()},
                      {"alone", each.alone},
                      {"after", each.after},
                      {"after_all", each.after_all}};
  if (each.is_relevant()) json["nodes"] = {each.nodes_before, each.nodes_after};
  const Pass& pass = find_pass(each.pass);
  if (!pass.never.empty()) json["never"] = pass.never;
  if (pass.adds_outputs) json["adds_outputs"] = true;
  return json;
}

}  // namespace

std::vector<PassRelevance> relevance_of(const Graph& graph, const PassContext& context,
                                        const JobListener& listener) {
  PassTrials trials(graph, context);
  const std::vector<Pass>& all = passes::all();
  std::vector<PassRelevance> found;
  size_t done = 0;
  auto tell = [&] {
    if (listener.is_stopped()) fail("stopped after {} of {} passes", done, 2 * all.size());
    listener(WorkDone{"passes", ++done, 2 * all.size()});
  };
  for (const Pass& pass : all) {
    found.push_back({pass.name});
    if (is_rewrite(pass)) found.back().alone = trials.changes("", pass, found.back());
    tell();
  }
  std::vector<std::string> starts = trials.starts();
  for (size_t i = 0; i < all.size(); ++i) {
    tell();
    if (found[i].alone || !is_rewrite(all[i])) continue;
    for (const std::string& before : starts) {
      if (before.empty()) continue;
      if (trials.changes(before, all[i], found[i])) found[i].after.push_back(before);
    }
    if (!found[i].after.empty()) continue;
    trials.add("all before", usual_before(all[i]));
    found[i].after_all = trials.changes("all before", all[i], found[i]);
  }
  return found;
}

nlohmann::json to_json(const std::vector<PassRelevance>& found) {
  nlohmann::json json = nlohmann::json::array();
  for (const PassRelevance& each : found) json.push_back(relevance_to_json(each));
  return json;
}

}  // namespace lathe
