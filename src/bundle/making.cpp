// making.cpp: how a bundle was made. Interface: making.h.
#include "bundle/making.h"

#include "base/error.h"
#include "base/json_reason.h"
#include "compile/ready.h"
#include "compile/tuned.h"
#include "data/file.h"
#include "ops/op.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

std::string print_hash(uint64_t hash) { return fmt::format("{:016x}", hash); }

Json to_json(const Target& target) {
  const Cpu& cpu = target.cpu;
  Json json = {{"name", target.name},         {"triple", target.triple},
               {"features", target.features}, {"vector_bytes", cpu.vector_bytes},
               {"registers", cpu.registers},  {"lane_products", cpu.lane_products},
               {"l1_bytes", cpu.l1_bytes},    {"l2_bytes", cpu.l2_bytes}};
  if (!cpu.extras.empty()) json["full_name"] = full_name(target);
  if (target.is_gpu()) {
    json["gpu"] = {{"model", target.gpu.model},
                   {"multiprocessors", target.gpu.multiprocessors},
                   {"shared_bytes", target.gpu.shared_bytes},
                   {"most_threads", target.gpu.most_threads},
                   {"warp", target.gpu.warp}};
  }
  return json;
}

/// Reads a target. What is not said of it is as it is for the target of this name.
Target target_from_json(const Json& json, long workers) {
  Target target = target_named(json.value("full_name", json.at("name").get<std::string>()));
  target.triple = json.at("triple");
  target.features = json.at("features");
  target.cpu.vector_bytes = json.at("vector_bytes");
  target.cpu.registers = json.at("registers");
  target.cpu.lane_products = json.at("lane_products");
  target.cpu.l1_bytes = json.at("l1_bytes");
  target.cpu.l2_bytes = json.at("l2_bytes");
  target.workers = workers;
  if (json.contains("gpu")) {
    target.gpu.model = json["gpu"].at("model");
    target.gpu.multiprocessors = json["gpu"].at("multiprocessors");
    target.gpu.shared_bytes = json["gpu"].at("shared_bytes");
    target.gpu.most_threads = json["gpu"].at("most_threads");
    target.gpu.warp = json["gpu"].value("warp", target.gpu.warp);
  }
  return target;
}

Json to_json(const MadeFrom& origin) {
  Json json{{"name", origin.network}};
  if (!origin.file.empty()) json["hash"] = origin.file;
  if (!origin.shapes.empty()) json["shapes"] = origin.shapes;
  for (const NetworkRecipe& recipe : origin.applied) {
    json["applied"].push_back(lathe::to_json(recipe));
  }
  const ModelOptions& model = origin.model;
  if (model.batch != 1) json["batch"] = model.batch;
  if (model.classes) json["classes"] = *model.classes;
  if (model.size) json["size"] = *model.size;
  return json;
}

MadeFrom origin_from_json(const Json& json) {
  MadeFrom origin{json.at("name"), json.value("hash", "")};
  if (json.contains("shapes")) origin.shapes = json["shapes"].get<std::vector<std::string>>();
  for (const Json& recipe : json.value("applied", Json::array())) {
    origin.applied.push_back(network_recipe_from_json(recipe));
  }
  origin.model.batch = json.value("batch", 1L);
  if (json.contains("classes")) origin.model.classes = json["classes"].get<long>();
  if (json.contains("size")) origin.model.size = json["size"].get<long>();
  return origin;
}

}  // namespace

nlohmann::json to_json(const Making& making) {
  Json json = to_json(making.choices);
  json["network"] = to_json(making.origin);
  json["graph"] = print_hash(making.graph);
  json["structure"] = making.structure;
  json["seed"] = making.seed;
  json["threads"] = making.target.workers;
  json["target"] = to_json(making.target);
  json["machine"] = making.machine;
  if (!making.host.empty()) json["host"] = making.host;
  json["thorough"] = making.effort == Effort::thorough;
  if (making.max_error != any_error) json["max_error"] = making.max_error;
  if (making.fitted) {
    json["fitted"] = {{"data", making.fitted->data},
                      {"normalize", making.fitted->normalize},
                      {"samples", making.fitted->samples}};
  }
  if (making.precision) {
    json["precision"] = {{"others", name_of(making.precision->others)},
                         {"data", making.precision->data},
                         {"normalize", making.precision->normalize},
                         {"images", making.precision->images}};
  }
  json["about"] = making.about;
  return json;
}

Making making_from_json(const nlohmann::json& json) {
  try {
    Making making;
    making.origin = origin_from_json(json.at("network"));
    making.graph = std::stoull(json.at("graph").get<std::string>(), nullptr, 16);
    making.structure = json.at("structure");
    making.seed = json.at("seed");
    making.target = target_from_json(json.at("target"), json.at("threads"));
    making.machine = json.at("machine");
    making.host = json.value("host", "");
    making.effort = json.at("thorough").get<bool>() ? Effort::thorough : Effort::quick;
    making.max_error = json.value("max_error", any_error);
    making.choices = choices_from_json(json);
    if (json.contains("fitted")) {
      const Json& fitted = json["fitted"];
      making.fitted = {fitted.at("data"), fitted.at("normalize"), fitted.at("samples")};
    }
    if (json.contains("precision")) {
      const Json& made = json["precision"];
      auto others = precision_named(made.at("others").get<std::string>());
      if (!others) fail("how it was made is not what Lathe writes: \"others\" is no precision");
      making.precision = {*others, made.at("data"), made.at("normalize"), made.at("images")};
    }
    making.about = json.at("about");
    return making;
  } catch (const Json::exception& error) {
    fail("how it was made is not what Lathe writes: {}", plain_reason(error));
  } catch (const std::logic_error&) {
    fail("how it was made is not what Lathe writes: \"graph\" is no hash");
  }
}

std::optional<Making> making_in(const std::string& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("made")) return std::nullopt;
  try {
    return making_from_json(json["made"]);
  } catch (const UserError& error) {
    fail("'{}': {}", path, error.what());
  }
}

Remade read_making(const std::string& path) {
  NetworkRecipe recipe = read_network_recipe(path);
  std::optional<Making> making = making_in(path);
  if (!making) {
    fail(
        "'{}' says what to do to layers, but not to which network, nor how it was compiled: it has "
        "no \"made\". The winner.recipe of a bundle has; this one can be given to --apply",
        path);
  }
  return {std::move(recipe), std::move(*making)};
}

std::string structure_of(const Graph& network) { return layout_key(simplified(network)); }

CompileOptions options_of(const Making& making) {
  CompileOptions options;
  options.target = making.target;
  options.effort = making.effort;
  options.max_error = making.max_error;
  return with_choices(options, making.choices);
}

void make_bundle(const Graph& network, const NetworkRecipe& recipe, Making making,
                 const CompileOptions& options, const std::string& folder,
                 const std::string& report, const Graph* changed, const Graph* narrow) {
  Graph graph =
      initialised(changed != nullptr ? *changed : transformed(network, recipe), making.seed);
  ChoiceRecord record;
  Compiled compiled = compile(narrow != nullptr ? *narrow : graph, record.noting(options));
  making.graph = structural_hash(network);
  making.structure = structure_of(initialised(network, making.seed));
  making.target = options.target;
  making.effort = options.effort;
  making.max_error = options.max_error;
  making.choices = record.choices();
  if (making.machine.empty()) making.machine = tuned_target(native_target());
  Bundle bundle{graph, compiled, recipe};
  if (is_trained(network)) bundle.original = &network;
  bundle.about = making.about;
  bundle.made = to_json(making);
  bundle.report = report;
  bundle.host = making.host;
  write_bundle(bundle, folder);
}

}  // namespace lathe
