// search_result.cpp: result.json. Interface: search_result.h.
//
// What each struct has is listed once, in describe(): Writing and Reading go through the same list.
#include "results/search_result.h"

#include <cmath>
#include <concepts>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "data/file.h"

namespace lathe {
namespace {

using nlohmann::json;

constexpr int result_version = 1;
constexpr const char* version_key = "lathe_result";

/// A struct that is read, or one that is only looked at.
template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

void describe(auto& fields, Of<ResultRule> auto& rule) {
  fields("name", rule.name);
  fields("tolerance", rule.tolerance);
  fields("network_band", rule.network_band);
  fields("layer_band", rule.layer_band);
  fields("paper", rule.paper);
  fields.later("metric", rule.metric);
}

void describe(auto& fields, Of<ResultCost> auto& cost) {
  fields("ms", cost.ms);
  fields("macs", cost.macs);
  fields("weights", cost.weights);
}

void describe(auto& fields, Of<ResultVerdict> auto& verdict) {
  fields("accepted", verdict.accepted);
  fields("sure", verdict.sure);
  fields("reason", verdict.reason);
  fields("ratio", verdict.ratio);
  fields("interval", verdict.interval);
  fields("layers", verdict.layers);
  fields("predicted", verdict.predicted);
  fields("uncertainty", verdict.uncertainty);
  fields("prediction", verdict.prediction);
  fields("caveat", verdict.caveat);
}

void describe(auto& fields, Of<NetworkChecks> auto& checks) {
  fields("units", checks.units);
  fields("full", checks.full);
  fields("reduced", checks.reduced);
  fields("unchecked", checks.unchecked);
}

void describe(auto& fields, Of<ResultWinner> auto& winner) {
  fields("ms", winner.ms);
  fields("original_ms", winner.original_ms);
  fields("spread", winner.spread);
  fields("tuned", winner.tuned);
  fields("macs", winner.macs);
  fields("weights", winner.weights);
  fields("recipe", winner.recipe);
  fields("verdict", winner.verdict);
  fields("checks", winner.checks);
  fields("original_checks", winner.original_checks);
}

void describe(auto& fields, Of<ResultBaseline> auto& baseline) {
  fields("way", baseline.way);
  fields("ms", baseline.ms);
  fields("original_ms", baseline.original_ms);
  fields("tuned", baseline.tuned);
  fields("macs", baseline.macs);
  fields("weights", baseline.weights);
  fields("recipe", baseline.recipe);
  fields("tried", baseline.tried);
  fields("refused", baseline.refused);
}

void describe(auto& fields, Of<ResultBlocks> auto& blocks) {
  fields("most", blocks.most);
  fields("log_networks", blocks.log_networks);
  fields("ways", blocks.ways);
}

void describe(auto& fields, Of<ResultFamilies> auto& families) {
  fields("families", families.families);
  fields("ms", families.ms);
  fields("original_ms", families.original_ms);
  fields("predicted", families.predicted);
  fields("used", families.used);
}

void describe(auto& fields, Of<ResultAccuracy> auto& accuracy) {
  fields("original", accuracy.original);
  fields("before", accuracy.before);
  fields("images", accuracy.images);
  fields("tuned", accuracy.tuned);
  fields("tuned_original", accuracy.tuned_original);
  fields("epochs", accuracy.epochs);
  fields.later("of", accuracy.of);
}

void describe(auto& fields, Of<ResultLimit> auto& limit) {
  fields("what", limit.what);
  fields("limit", limit.limit);
  fields("reached", limit.reached);
  fields("met", limit.met);
}

void describe(auto& fields, Of<ResultPeer> auto& peer) {
  fields("name", peer.name);
  fields("ms", peer.ms);
  fields("original_ms", peer.original_ms);
}

void describe(auto& fields, Of<ResultPrecision> auto& each) {
  fields("precision", each.precision);
  fields("ms", each.ms);
  fields("original_ms", each.original_ms);
  fields("accuracy", each.accuracy);
  fields("winner_ms", each.winner_ms);
  fields("winner_original_ms", each.winner_original_ms);
}

void describe(auto& fields, Of<ResultLayer> auto& layer) {
  fields("layer", layer.layer);
  fields("kind", layer.kind);
  fields("recipe", layer.recipe);
  fields("meaning", layer.meaning);
  fields("before_ms", layer.before_ms);
  fields("after_ms", layer.after_ms);
  fields("macs_before", layer.macs_before);
  fields("macs", layer.macs);
  fields("weights_before", layer.weights_before);
  fields("weights", layer.weights);
  fields("first_order", layer.first_order);
  fields("exact", layer.exact);
}

void describe(auto& fields, Of<ResultVariant> auto& variant) {
  fields("recipe", variant.recipe);
  fields("meaning", variant.meaning);
  fields("macs", variant.macs);
  fields("weights", variant.weights);
  fields("before_ms", variant.before_ms);
  fields("after_ms", variant.after_ms);
  fields("first_order", variant.first_order);
  fields("failure", variant.failure);
  fields("family", variant.family);
}

void describe(auto& fields, Of<ResultKind> auto& kind) {
  fields("kind", kind.kind);
  fields("sites", kind.sites);
  fields("variants", kind.variants);
}

void describe(auto& fields, Of<ResultPoint> auto& point) {
  fields("recipe", point.recipe);
  fields("ms", point.ms);
  fields("original_ms", point.original_ms);
  fields("ratio", point.ratio);
  fields("predicted", point.predicted);
  fields("macs", point.macs);
  fields("weights", point.weights);
}

void describe(auto& fields, Of<SearchResult> auto& result) {
  fields("lathe", result.lathe);
  fields("network", result.network);
  fields("command", result.command);
  fields("strategy", result.strategy);
  fields("identity", result.identity);
  fields("found", result.found);
  fields("stopped", result.stopped);
  fields("seconds", result.seconds);
  fields("threads", result.threads);
  fields("rule", result.rule);
  fields("original", result.original);
  fields("winner", result.winner);
  fields("log_networks", result.log_networks);
  fields("accuracy", result.accuracy);
  fields("blocks", result.blocks);
  fields("families", result.families);
  fields.later("limits", result.limits);
  fields("peers", result.peers);
  fields("precisions", result.precisions);
  fields("tried", result.tried);
  fields("refused", result.refused);
  fields("failed", result.failed);
  fields("reasons", result.reasons);
  fields("layers", result.layers);
  fields("rest_ms", result.rest_ms);
  fields("kinds", result.kinds);
  fields("pareto", result.pareto);
}

/// Makes an object of the fields of a struct.
class Writing {
 public:
  template <class T>
  static json written(const T& value) {
    Writing fields;
    describe(fields, value);
    return std::move(fields.json_);
  }
  static json written(const std::string& text) { return text; }
  static json written(bool value) { return value; }
  static json written(long value) { return value; }
  static json written(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
  static json written(const NetworkRecipe& recipe) { return to_json(recipe); }

  template <class T>
  static json written(const std::vector<T>& list) {
    json result = json::array();
    for (const T& value : list) result.push_back(written(value));
    return result;
  }

  template <class T>
  static json written(const std::map<std::string, T>& map) {
    json result = json::object();
    for (const auto& [name, value] : map) result[name] = written(value);
    return result;
  }

  template <class T>
  static json written(const std::optional<T>& value) {
    return value ? written(*value) : json(nullptr);
  }

  template <class T>
  void operator()(const char* name, const T& value) {
    json_[name] = written(value);
  }
  template <class T>
  void later(const char* name, const T& value) {
    (*this)(name, value);
  }

 private:
  json json_ = json::object();
};

/// Reads the fields of a struct from an object, and knows where that stands in the file.
class Reading {
 public:
  Reading(const json& object, std::string place) : json_(object), place_(std::move(place)) {
    if (!json_.is_object()) wrong(place_, "an object");
  }

  template <class T>
  void operator()(const char* name, T& value) {
    std::string place = place_.empty() ? name : place_ + "." + name;
    auto found = json_.find(name);
    if (found == json_.end()) missing(value, place);
    if (found != json_.end()) read(*found, place, value);
  }
  /// Reads a field that files of an earlier Lathe do not have.
  template <class T>
  void later(const char* name, T& value) {
    if (json_.contains(name)) (*this)(name, value);
  }

 private:
  const json& json_;
  std::string place_;

  [[noreturn]] static void wrong(const std::string& place, const char* what) {
    fail("'{}' is not {}", place.empty() ? "result" : place, what);
  }

  template <class T>
  static void missing(std::optional<T>& /*value*/, const std::string& /*place*/) {}
  template <class T>
  [[noreturn]] static void missing(T& /*value*/, const std::string& place) {
    fail("'{}' is missing", place);
  }

  template <class T>
  static void read(const json& from, const std::string& place, T& value) {
    Reading fields(from, place);
    describe(fields, value);
  }
  static void read(const json& from, const std::string& place, std::string& value) {
    if (!from.is_string()) wrong(place, "a text");
    value = from.get<std::string>();
  }
  static void read(const json& from, const std::string& place, bool& value) {
    if (!from.is_boolean()) wrong(place, "true or false");
    value = from.get<bool>();
  }
  static void read(const json& from, const std::string& place, long& value) {
    if (!from.is_number_integer()) wrong(place, "a whole number");
    value = from.get<long>();
  }
  static void read(const json& from, const std::string& place, double& value) {
    if (!from.is_number()) wrong(place, "a number");
    value = from.get<double>();
  }
  static void read(const json& from, const std::string& place, NetworkRecipe& value) {
    try {
      value = network_recipe_from_json(from);
    } catch (const UserError& error) {
      fail("'{}': {}", place, error.what());
    }
  }

  template <class T>
  static void read(const json& from, const std::string& place, std::vector<T>& value) {
    if (!from.is_array()) wrong(place, "a list");
    value.resize(from.size());
    for (size_t i = 0; i < value.size(); ++i) {
      read(from[i], fmt::format("{}[{}]", place, i), value[i]);
    }
  }

  template <class T>
  static void read(const json& from, const std::string& place, std::map<std::string, T>& value) {
    if (!from.is_object()) wrong(place, "an object");
    for (const auto& [name, item] : from.items()) read(item, place + "." + name, value[name]);
  }

  template <class T>
  static void read(const json& from, const std::string& place, std::optional<T>& value) {
    if (!from.is_null()) read(from, place, value.emplace());
  }
};

void check_intervals(const ResultVerdict& verdict, const std::string& place) {
  auto is_wrong = [](const auto& interval) { return interval && interval->size() != 2; };
  if (is_wrong(verdict.interval)) fail("'{}.interval' has not two ends", place);
  if (is_wrong(verdict.prediction)) fail("'{}.prediction' has not two ends", place);
}

std::string file_of(const std::string& folder) { return folder + "/result.json"; }

}  // namespace

std::string way_of_winner(const SearchResult& result) {
  return result.strategy == "nas" ? "list of blocks (sampled)" : "Lathe";
}

json to_json(const SearchResult& result) {
  json file = Writing::written(result);
  file[version_key] = result_version;
  return file;
}

json to_json(const ResultLayer& layer) { return Writing::written(layer); }
json to_json(const ResultVariant& variant) { return Writing::written(variant); }

SearchResult search_result_from_json(const json& file) {
  if (!file.is_object() || !file.contains(version_key) || !file[version_key].is_number_integer()) {
    fail("this is no result of a search: it has no number '{}'", version_key);
  }
  if (file[version_key] != result_version) {
    fail("version {} is not known here (this is version {}); use the Lathe that wrote it, {}",
         file[version_key].dump(), result_version, file.value("lathe", json("?")).dump());
  }
  SearchResult result;
  Reading fields(file, "");
  describe(fields, result);
  if (result.winner.verdict) check_intervals(*result.winner.verdict, "winner.verdict");
  return result;
}

ResultVerdict verdict_from_json(const json& from) {
  ResultVerdict verdict;
  Reading fields(from, "verdict");
  describe(fields, verdict);
  check_intervals(verdict, "verdict");
  if (verdict.caveat) {  // the journal keeps a number that only orders networks
    verdict.predicted.reset();
    verdict.uncertainty.reset();
  }
  return verdict;
}

void write_search_result(const SearchResult& result, const std::string& folder) {
  std::string text = to_json(result).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  write_file(file_of(folder), {std::as_bytes(std::span(text))});
}

SearchResult read_search_result(const std::string& folder) {
  std::string path = file_of(folder);
  std::error_code ignored;
  bool there = std::filesystem::exists(path, ignored);
  if (!there && std::filesystem::exists(folder + "/journal.db", ignored)) {
    fail("the search in '{}' has not ended: the same 'lathe optimize' goes on with it", folder);
  }
  if (!there) {
    fail("'{}' holds no search: 'lathe optimize ... --work-dir {}' makes one", folder, folder);
  }
  json content = json::parse(read_file(path), nullptr, false);
  if (content.is_discarded()) fail("'{}' is no JSON", path);
  try {
    return search_result_from_json(content);
  } catch (const UserError& error) {
    fail("'{}': {}", path, error.what());
  }
}

}  // namespace lathe
