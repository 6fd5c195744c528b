// list.cpp: "lathe list transforms|ops|models|judges|metrics|passes|strategies|families|targets":
// what there is.
#include <map>

#include "backends/backend.h"
#include "base/error.h"
#include "cli/verb_nest.h"
#include "metrics/metric.h"
#include "models/model.h"
#include "passes/pass.h"
#include "search/variant_family.h"
#include "strategies/strategy.h"

namespace lathe::cli {
namespace {

struct Row {
  std::string name, kind, text;
};

std::vector<Row> transform_rows() {
  std::vector<Row> rows;
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

std::vector<Row> op_rows() {
  std::vector<Row> rows;
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

std::vector<Row> model_rows() {
  std::vector<Row> rows;
  for (const ModelEntry& entry : list_models()) {
    long weights = weight_count(load_model(entry.example));
    std::string of = entry.name == entry.example ? "" : fmt::format(" ({})", entry.example);
    rows.push_back(
        {entry.name, "", fmt::format("{}; {} weights{}", entry.summary, print_count(weights), of)});
  }
  return rows;
}

std::vector<Row> judge_rows() {
  std::vector<Row> rows;
  for (const Judge& judge : legality::all()) {
    rows.push_back({judge.name, name_of(judge.judges), judge.summary});
  }
  return rows;
}

std::vector<Row> metric_rows() {
  std::vector<Row> rows;
  for (const Metric& metric : metrics::all()) rows.push_back({metric.name, "", metric.summary});
  return rows;
}

std::vector<Row> strategy_rows() {
  std::vector<Row> rows;
  for (const Strategy& each : strategies::all()) rows.push_back({each.name, "", each.summary});
  return rows;
}

std::vector<Row> family_rows() {
  std::vector<Row> rows;
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
  std::string text = fmt::format("blocks of {} threads, {} KiB shared, {} multiprocessors",
                                 gpu.most_threads, gpu.shared_bytes >> 10, gpu.multiprocessors);
  if (gpu.capability != 0) text += fmt::format(", sm_{}", gpu.capability);
  return text;
}

std::vector<Row> target_rows() {
  std::vector<Row> rows;
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
std::vector<Row> pass_rows() {
  std::vector<Row> rows;
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

const std::map<std::string, std::vector<Row> (*)()> lists = {
    {"families", family_rows},     {"judges", judge_rows},   {"metrics", metric_rows},
    {"models", model_rows},        {"ops", op_rows},         {"passes", pass_rows},
    {"strategies", strategy_rows}, {"targets", target_rows}, {"transforms", transform_rows}};

void print_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    fmt::print("{}", wrapped(row.name, 6, 0));
    if (!row.kind.empty()) fmt::print("  [{}]", row.kind);
    fmt::print("\n    {}\n", wrapped(row.text, 4, 4));
  }
}

struct ListArgs {
  std::string what;
  bool json = false;
};

int run_list(const ListArgs& options) {
  std::vector<Row> rows = lists.at(options.what)();
  if (!options.json) {
    print_rows(rows);
    return 0;
  }
  nlohmann::json json = nlohmann::json::array();
  for (const Row& row : rows) {
    json.push_back({{"name", row.name}, {"kind", row.kind}, {"text", row.text}});
  }
  fmt::print("{}\n", json.dump(2));
  return 0;
}

std::function<int()> set_up_list(Command& app) {
  auto options = std::make_shared<ListArgs>();
  std::vector<std::string> names;
  for (const auto& [name, rows] : lists) names.push_back(name);
  app.add_option("WHAT", options->what, "what to list")->required()->check(one_of(names));
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_list(*options); };
}

}  // namespace

Verb list() {
  return {"list", "list transforms, operators, models, metrics, passes and more", set_up_list,
          "lathe list transforms"};
}

}  // namespace lathe::cli
