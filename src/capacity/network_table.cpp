// network_table.cpp: tables of trained networks. Interface: network_table.h.
#include "capacity/network_table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/number.h"
#include "program/layers.h"
#include "transforms/transform_kinds.h"

namespace lathe {
namespace {

constexpr int table_version = 1;
constexpr const char* version_key = "lathe_networks";

/// The fields of a line, and its number in the file.
struct Line {
  size_t number;
  std::vector<std::string> fields;
};

/// What a file says of itself, and its lines.
struct Csv {
  std::map<std::string, std::string> about;
  std::vector<Line> lines;
};

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Reads "# dataset: cifar10"; other comments are passed over.
void read_comment(const std::string& line, Csv& csv) {
  size_t colon = line.find(':');
  if (colon == std::string::npos) return;
  csv.about[trimmed(line.substr(1, colon - 1))] = trimmed(line.substr(colon + 1));
}

/// Splits a line into fields. One in quotes may hold commas, line breaks and doubled quotes; then
/// more of the file is read.
std::vector<std::string> read_fields(std::string line, std::istream& file, size_t& number) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0;; ++i) {
    if (i >= line.size() && !quoted) return fields;
    if (i >= line.size()) {
      if (!std::getline(file, line)) fail("a quote is not closed");
      ++number;
      fields.back() += '\n';
      i = static_cast<size_t>(-1);
    } else if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
}

Csv read_csv(std::istream& file, const std::string& path) {
  Csv csv;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    size_t first = ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (trimmed(line).empty()) continue;
    if (line.starts_with('#')) {
      read_comment(line, csv);
      continue;
    }
    try {
      csv.lines.push_back({first, read_fields(line, file, number)});
    } catch (const UserError& error) {
      fail("'{}', line {}: {}", path, first, error.what());
    }
  }
  if (csv.lines.size() < 2) fail("'{}' has no networks", path);
  return csv;
}

/// Where the columns are.
struct Columns {
  size_t name = 0, top1 = 0;
  std::optional<size_t> seed, parameters, recipe;
  std::vector<size_t> kinds;  ///< of layers
  size_t count = 0;
};

Columns columns_of(const std::vector<std::string>& heads) {
  Columns columns;
  std::optional<size_t> name, top1;
  for (size_t i = 0; i < heads.size(); ++i) {
    std::string head = trimmed(heads[i]);
    if (head == "name") {
      name = i;
    } else if (head == "top1") {
      top1 = i;
    } else if (head == "seed") {
      columns.seed = i;
    } else if (head == "parameters") {
      columns.parameters = i;
    } else if (head == "recipe") {
      columns.recipe = i;
    } else {
      columns.kinds.push_back(i);
    }
  }
  if (!name || !top1 || columns.recipe.has_value() == !columns.kinds.empty()) {
    fail(
        "the columns must be name and top1, and either recipe or one for each layer; seed and "
        "parameters are optional");
  }
  columns.name = *name;
  columns.top1 = *top1;
  columns.count = heads.size();
  return columns;
}

/// Makes recipes of what the layers became.
class KindReader {
 public:
  explicit KindReader(const Graph& graph) : graph_(graph), layers_(changeable_layers(graph)) {}

  NetworkRecipe recipe_of(const std::vector<std::string>& kinds) {
    if (layers_.size() != kinds.size()) {
      fail("there are {} layers, but '{}' has {} that may change", kinds.size(), graph_.name,
           layers_.size());
    }
    NetworkRecipe result;
    for (size_t i = 0; i < kinds.size(); ++i) {
      const Recipe& recipe = recipe_of(i, kinds[i]);
      if (recipe.empty()) continue;
      result.push_back({pattern_of(graph_.nodes[layers_[i]].name), recipe});
    }
    return result;
  }

 private:
  const Graph& graph_;
  std::vector<size_t> layers_;
  Context context_;
  std::map<std::pair<size_t, std::string>, Recipe> known_;

  const Recipe& recipe_of(size_t layer, const std::string& kind) {
    auto found = known_.find({layer, kind});
    if (found != known_.end()) return found->second;
    const Node& node = graph_.nodes[layers_[layer]];
    auto recipe = recipe_of_kind(nest_of(context_, call_of(graph_, node)), kind);
    if (!recipe) fail("layer '{}' is {}, which its sizes do not allow", node.name, kind);
    return known_[{layer, kind}] = std::move(*recipe);
  }
};

TrainedNetwork read_row(const Columns& columns, const std::vector<std::string>& fields,
                        KindReader& kinds) {
  if (fields.size() != columns.count) {
    fail("there are {} fields instead of {}", fields.size(), columns.count);
  }
  TrainedNetwork network{fields[columns.name], {}, {}, {}, {}};
  auto top1 = number_in<double>(fields[columns.top1]);
  if (!top1) fail("top1 is '{}', expected a number", fields[columns.top1]);
  network.top1 = {*top1};
  if (columns.parameters) {
    network.parameters = number_in<long>(fields[*columns.parameters]);
    if (!network.parameters) {
      fail("parameters is '{}', expected an integer", fields[*columns.parameters]);
    }
  }
  if (columns.recipe) {
    std::string text = fields[*columns.recipe];
    std::replace(text.begin(), text.end(), ';', '\n');
    network.recipe = parse_network_recipe(text);
    return network;
  }
  std::vector<std::string> names;
  for (size_t i : columns.kinds) names.push_back(trimmed(fields[i]));
  network.recipe = kinds.recipe_of(names);
  return network;
}

/// Adds a line: a network, or what training another time said of one.
void add(NetworkTable& table, TrainedNetwork row) {
  for (TrainedNetwork& known : table.networks) {
    if (known.name != row.name) continue;
    if (known.recipe != row.recipe) fail("'{}' is made in two ways", row.name);
    known.top1.push_back(row.top1.front());
    return;
  }
  table.networks.push_back(std::move(row));
}

void read_origin(const Csv& csv, TrainingOrigin& origin) {
  auto text = [&](const char* key) {
    auto found = csv.about.find(key);
    return found == csv.about.end() ? std::string() : found->second;
  };
  origin.dataset = text("dataset");
  origin.training = text("training");
  if (text("epochs").empty()) return;
  auto epochs = number_in<long>(text("epochs"));
  if (!epochs || *epochs < 1) fail("'# epochs: {}' is no number of epochs", text("epochs"));
  origin.epochs = *epochs;
}

void read_csv_table(NetworkTable& table, std::istream& file, const std::string& path,
                    const Graph& original) {
  Csv csv = read_csv(file, path);
  read_origin(csv, table.origin);
  KindReader kinds(original);
  Columns columns;
  for (const Line& line : csv.lines) {
    try {
      if (&line == &csv.lines.front()) {
        columns = columns_of(line.fields);
      } else {
        add(table, read_row(columns, line.fields, kinds));
      }
    } catch (const UserError& error) {
      fail("'{}', line {}: {}", path, line.number, error.what());
    }
  }
}

double six_digits(double number) { return std::stod(fmt::format("{:.6g}", number)) + 0.0; }

/// Does a rule look at single layers of a metric?
bool has_layers(const Metric& metric) {
  const Contribution& contributes = metric.contributes;
  return contributes.use == Contribution::Use::bands ||
         std::any_of(contributes.forms.begin(), contributes.forms.end(), [](const MetricForm& f) {
           return f.form == Form::layers_distance || f.form == Form::worst_distance;
         });
}

/// Writes what a metric says: for each seed the total, then the layers. Seeds that say the same are
/// written once.
nlohmann::json to_json(const Scores& original, const Scores& scores) {
  bool layers = has_layers(find_metric(scores.metric));
  nlohmann::json seeds = nlohmann::json::array();
  for (size_t i = 0; i < scores.of_seeds.size(); ++i) {
    nlohmann::json seed{six_digits(scores.of_seeds[i].total)};
    if (layers) {
      for (const LayerScore& layer : folded(original.of_seeds[i], scores.of_seeds[i]).layers) {
        seed.push_back(six_digits(layer.score));
      }
    }
    seeds.push_back(std::move(seed));
  }
  bool same = std::all_of(seeds.begin(), seeds.end(),
                          [&](const nlohmann::json& seed) { return seed == seeds.front(); });
  if (same) seeds.erase(seeds.begin() + 1, seeds.end());
  return seeds;
}

Scores scores_from_json(const std::string& metric, const nlohmann::json& json,
                        const std::vector<std::string>& layers, size_t seeds) {
  Scores result{metric, {}};
  for (size_t i = 0; i < seeds; ++i) {
    const nlohmann::json& seed = json.at(json.size() == 1 ? 0 : i);
    if (seed.size() != layers.size() + 1) {
      fail("{} has {} numbers instead of {}", metric, seed.size(), layers.size() + 1);
    }
    Score score{seed.at(0), {}};
    for (size_t l = 0; l < layers.size(); ++l) score.layers.push_back({layers[l], seed[l + 1]});
    result.of_seeds.push_back(std::move(score));
  }
  return result;
}

void read_json_table(NetworkTable& table, const nlohmann::json& json) {
  if (!json.is_object() || !json.contains(version_key)) {
    fail("this is no table of networks; 'lathe calibrate --write-table FILE' writes one");
  }
  if (json[version_key] != table_version) {
    fail("the table is of version {}; this Lathe reads version {}", json[version_key].dump(),
         table_version);
  }
  TrainingOrigin origin = origin_from_json(json.at("origin"));
  if (origin.structure != table.origin.structure) {
    fail("its networks are made of {}, not of {}", origin.network, table.origin.network);
  }
  table.origin = origin;
  table.scored_on = json.at("scored_on");
  size_t seeds = json.at("seeds");
  std::map<std::string, std::vector<std::string>> layers;
  for (const auto& [metric, names] : json.at("layers").items()) names.get_to(layers[metric]);
  for (const auto& each : json.at("networks")) {
    TrainedNetwork network{each.at("name"), each.at("top1"), {}, {}, {}};
    network.recipe = parse_network_recipe(each.at("recipe").get<std::string>());
    for (const auto& [metric, scores] : each.at("scores").items()) {
      network.scores.push_back(scores_from_json(metric, scores, layers[metric], seeds));
    }
    table.networks.push_back(std::move(network));
  }
}

const Scores& find_scores(const TrainedNetwork& network, const std::string& metric) {
  for (const Scores& scores : network.scores) {
    if (scores.metric == metric) return scores;
  }
  fail("'{}' has no score by {}", network.name, metric);
}

}  // namespace

double TrainedNetwork::accuracy() const { return mean(top1); }

const TrainedNetwork& NetworkTable::original() const {
  for (const TrainedNetwork& network : networks) {
    if (network.recipe.empty()) return network;
  }
  fail(
      "'{}' has no network that is as the original: one whose layers are all dense, or whose "
      "recipe is empty",
      name);
}

NetworkTable read_network_table(const std::string& path, const std::string& name,
                                const Graph& original) {
  std::ifstream file(path);
  if (!file) fail("cannot read '{}'", path);
  NetworkTable table;
  table.name = std::filesystem::path(path).stem().string();
  table.origin.network = name;
  table.origin.structure = structure_of_network(original);
  if (path.ends_with(".json")) {
    nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) fail("'{}' is no table of networks: it is not JSON", path);
    try {
      read_json_table(table, json);
    } catch (const nlohmann::json::exception&) {
      fail("'{}': a part of the table is missing or of another type", path);
    } catch (const UserError& error) {
      fail("'{}': {}", path, error.what());
    }
  } else {
    read_csv_table(table, file, path, original);
  }
  table.original();
  return table;
}

std::string print_scored(const NetworkTable& table) {
  const TrainedNetwork& original = table.original();
  check(!original.scores.empty(), "a table is printed with its scores");
  nlohmann::json layers = nlohmann::json::object();
  for (const Scores& scores : original.scores) {
    if (!has_layers(find_metric(scores.metric))) continue;
    layers[scores.metric] = nlohmann::json::array();
    const Score& first = scores.of_seeds.front();
    for (const LayerScore& layer : folded(first, first).layers) {
      layers[scores.metric].push_back(layer.layer);
    }
  }
  std::string out = fmt::format(
      "{{\"{}\": {},\n \"origin\": {},\n \"scored_on\": {},\n \"seeds\": {},\n \"layers\": {},\n "
      "\"networks\": [",
      version_key, table_version, to_json(table.origin).dump(),
      nlohmann::json(table.scored_on).dump(), original.scores.front().of_seeds.size(),
      layers.dump());
  const char* before = "\n";
  for (const TrainedNetwork& network : table.networks) {
    nlohmann::json json{{"name", network.name}, {"top1", network.top1}};
    json["recipe"] = trimmed(print(network.recipe));
    for (const Scores& scores : original.scores) {
      json["scores"][scores.metric] = to_json(scores, find_scores(network, scores.metric));
    }
    out += before + json.dump();
    before = ",\n";
  }
  return out + "\n]}\n";
}

std::vector<Trained> trained_in(const NetworkTable& table, const std::vector<Metric>& metrics) {
  const TrainedNetwork& original = table.original();
  auto scores_of = [&](const TrainedNetwork& network) {
    std::vector<Scores> result;
    for (const Metric& metric : metrics) result.push_back(find_scores(network, metric.name));
    return result;
  };
  std::vector<Trained> result;
  for (const TrainedNetwork& network : table.networks) {
    if (&network == &original) continue;
    result.push_back({network.name, network.accuracy() - original.accuracy(),
                      compared(scores_of(original), scores_of(network))});
  }
  return result;
}

}  // namespace lathe
