// page.cpp: the page about a search. Interface: page.h.
#include "jobs/page.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/error.h"
#include "data/file.h"
#include "jobs/made_from.h"
#include "report/report_page.h"

namespace lathe {
namespace {

/// Loads the network that was searched, and checks that it is the same; says why it is not.
std::optional<Graph> network_of(const SearchResult& result, const std::string& folder,
                                std::string& remark) {
  try {
    std::string recipe = recipe_file(folder);
    if (std::filesystem::exists(recipe)) return load_made(read_making(recipe).making);
    Graph graph = load_network({.network = result.network});
    auto identity = result.identity.find("network");
    std::string hash = fmt::format("{:016x}", structural_hash(graph));
    if (identity == result.identity.end() || identity->second.ends_with(hash)) return graph;
    remark = fmt::format("'{}' is another network now", result.network);
  } catch (const UserError& error) {
    remark = error.what();
  }
  return std::nullopt;
}

/// Adds what train.py reached, if it ran in the bundle of the search.
void add_tuned(SearchResult& result, const std::string& folder) {
  std::string path = folder + "/bundle/trained.json";
  std::error_code ignored;
  if (!result.accuracy || !std::filesystem::exists(path, ignored)) return;
  nlohmann::json json = nlohmann::json::parse(read_file(path), nullptr, false);
  auto number = [&](const char* key) -> std::optional<double> {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return std::nullopt;
    return json[key].get<double>();
  };
  result.accuracy->tuned = number("test");
  result.accuracy->tuned_original = number("original");
  if (auto epochs = number("epochs")) result.accuracy->epochs = std::lround(*epochs);
}

}  // namespace

std::string write_report(const std::string& folder, const std::string& output,
                         const Graph* network) {
  SearchResult result = read_search_result(folder);
  add_tuned(result, folder);
  JournalRecord journal = read_journal(folder);
  std::string remark;
  std::optional<Graph> loaded;
  if (network == nullptr) loaded = network_of(result, folder, remark);
  if (loaded) network = &*loaded;
  std::string page = print_report({result, journal, folder, network, remark});
  std::string path = output.empty() ? folder + "/report.html" : output;
  write_file(path, {std::as_bytes(std::span(page))});
  return path;
}

}  // namespace lathe
