// listing.cpp: what there is. Interface: listing.h.
#include "jobs/listing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "backends/backend.h"
#include "base/counts.h"
#include "base/error.h"
#include "legality/legality.h"
#include "metrics/metric.h"
#include "models/model.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "search/variant_family.h"
#include "strategies/strategy.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

std::vector<ListRow> transform_rows() {
  std::vector<ListRow> rows;
  for (const Transform& t : transforms::all()) {
    rows.push_back({signature(t), name_of(t.kind), t.rewrite});
  }
  return rows;
}

/// Prints what an operator takes in a graph: operands, those that may be left out in brackets, and
/// attributes.
std::string operands_of(const Op& op) {
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  constexpr size_t most_named = 6;
  for (size_t i = 0; i < std::min(op.graph.most, most_named); ++i) {
    std::string name = fmt::format("x{}", i);
    if (op.graph.most == any_number && i >= op.graph.least) {
      add("...");
      break;
    }
    add(i < op.graph.least ? name : "[" + name + "]");
  }
  for (const Setting& s : op.graph.settings) {
    bool required = s.need == Setting::Need::required;
    add(required ? s.name : s.name + "=" + print_attribute(s.otherwise));
  }
  return text;
}

std::vector<ListRow> op_rows() {
  std::vector<ListRow> rows;
  for (const Op& op : operators()) {
    std::string params;
    for (const Param& p : op.params) {
      params += params.empty() ? "" : ", ";
      params += p.otherwise ? fmt::format("{}={}", p.name, *p.otherwise) : p.name;
    }
    if (op.nest == nullptr) params = operands_of(op);
    rows.push_back({fmt::format("{}({})", op.name, params), "", op.summary});
  }
  return rows;
}

std::vector<ListRow> model_rows() {
  std::vector<ListRow> rows;
  for (const ModelEntry& entry : list_models()) {
    long weights = weight_count(load_model(entry.example));
    std::string of = entry.name == entry.example ? "" : fmt::format(" ({})", entry.example);
    rows.push_back(
        {entry.name, "", fmt::format("{}; {} weights{}", entry.summary, print_count(weights), of)});
  }
  return rows;
}

std::vector<ListRow> judge_rows() {
  std::vector<ListRow> rows;
  for (const Judge& judge : legality::all()) {
    rows.push_back({judge.name, name_of(judge.judges), judge.summary});
  }
  return rows;
}

std::vector<ListRow> metric_rows() {
  std::vector<ListRow> rows;
  for (const Metric& metric : metrics::all()) rows.push_back({metric.name, "", metric.summary});
  return rows;
}

std::vector<ListRow> strategy_rows() {
  std::vector<ListRow> rows;
  for (const Strategy& each : strategies::all()) rows.push_back({each.name, "", each.summary});
  return rows;
}

std::vector<ListRow> family_rows() {
  std::vector<ListRow> rows;
  for (const FamilyRecord& record : families()) rows.push_back({record.name, "", record.text});
  return rows;
}

std::string names_of(const std::set<Extra>& extras) {
  std::string names;
  for (Extra extra : extras)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(extra));
  return names;
}

/// Says what a target has, and whether it is a machine of this computer.
std::string description(const Target& target, const Backend& backend) {
  std::string text = fmt::format("vectors of {} bytes, {} registers", target.cpu.vector_bytes,
                                 target.cpu.registers);
  std::set<Extra> possible = possible_extras(target);
  if (!possible.empty()) text += "; may have " + names_of(possible);
  for (const Target& here : backend.here()) {
    if (here.name == target.name) text += "; this machine is native, " + full_name(here);
  }
  return text;
}

std::string gpu_description(const Target& target) {
  const Gpu& gpu = target.gpu;
  if (!target.has_warps()) {
    return fmt::format("a CPU of {} cores, vectors of {} bytes", gpu.multiprocessors,
                       target.cpu.vector_bytes);
  }
  std::string text = fmt::format("blocks of {} threads, {} KiB shared, {} multiprocessors",
                                 gpu.most_threads, gpu.shared_bytes >> 10, gpu.multiprocessors);
  if (gpu.capability != 0) text += fmt::format(", sm_{}", gpu.capability);
  return text;
}

std::vector<ListRow> target_rows() {
  std::vector<ListRow> rows;
  for (const Target& target : targets()) {
    const Backend& backend = backend_for(target);
    rows.push_back({target.name, backend.name, description(target, backend)});
  }
  for (const Target& target : gpu_targets()) {
    const Backend& backend = backend_for(target);
    if (target.gpu.device == any_device) {
      rows.push_back({target.name, backend.name, gpu_description(target) + "; any such device"});
      continue;
    }
    std::vector<Target> here = backend.here();
    if (here.empty()) {
      rows.push_back(
          {target.name, backend.name, gpu_description(target) + "; this computer has none"});
    }
    for (const Target& machine : here) {
      rows.push_back(
          {machine.name, backend.name, gpu_description(machine) + "; here: " + machine.gpu.model});
    }
  }
  return rows;
}

/// Passes; their place among the usual ones says when they run.
std::vector<ListRow> pass_rows() {
  std::vector<ListRow> rows;
  std::vector<std::string> usual = usual_passes();
  for (const Pass& pass : passes::all()) {
    auto place = std::find(usual.begin(), usual.end(), pass.name) - usual.begin();
    bool is_usual = place < static_cast<long>(usual.size());
    std::string kind = !pass.never.empty() ? "never"
                       : is_usual          ? fmt::format("usual, {}", place + 1)
                       : pass.adds_outputs ? "adds outputs"
                                           : "";
    if (pass.tolerance > 0) {
      kind += fmt::format("{}within {}", kind.empty() ? "" : ", ", pass.tolerance);
    }
    std::string text = pass.summary;
    if (!pass.never.empty()) text += "; changes nothing here: " + pass.never;
    rows.push_back({pass.name, kind, text});
  }
  return rows;
}

const std::map<std::string, std::vector<ListRow> (*)()> lists = {
    {"families", family_rows},     {"judges", judge_rows},   {"metrics", metric_rows},
    {"models", model_rows},        {"ops", op_rows},         {"passes", pass_rows},
    {"strategies", strategy_rows}, {"targets", target_rows}, {"transforms", transform_rows}};

}  // namespace

std::vector<std::string> listed() {
  std::vector<std::string> names;
  for (const auto& [name, rows] : lists) names.push_back(name);
  return names;
}

std::vector<ListRow> list_of(const std::string& what) {
  auto found = lists.find(what);
  if (found == lists.end()) {
    fail("there is no list of '{}'; there are {}", what, fmt::join(listed(), ", "));
  }
  return found->second();
}

nlohmann::json to_json(const std::vector<ListRow>& rows) {
  nlohmann::json json = nlohmann::json::array();
  for (const ListRow& row : rows) {
    json.push_back({{"name", row.name}, {"kind", row.kind}, {"text", row.text}});
  }
  return json;
}

}  // namespace lathe
