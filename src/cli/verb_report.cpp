// verb_report.cpp: the page about a search. Interface: verb_report.h.
#include "cli/verb_report.h"

#include <optional>
#include <span>

#include "base/error.h"
#include "cli/verb_network.h"
#include "data/file.h"
#include "report/report_page.h"

namespace lathe::cli {
namespace {

/// Reads what a search's command said of its network: name, shapes, sizes.
NetworkArguments arguments_of(const SearchResult& result) {
  NetworkArguments arguments;
  CLI::App app;
  app.allow_extras();
  add_network_arguments(app, arguments);
  // What follows "lathe optimize".
  size_t at = result.command.find(' ', result.command.find(' ') + 1);
  try {
    app.parse(at == std::string::npos ? "" : result.command.substr(at + 1), false);
  } catch (const CLI::Error&) {
    arguments = {};
  }
  return arguments;
}

/// Loads the network that was searched, and checks that it is the same; says why it is not.
std::optional<Graph> network_of(const SearchResult& result, std::string& remark) {
  NetworkArguments arguments = arguments_of(result);
  for (const std::string& name : {result.network, arguments.network}) {
    arguments.network = name;
    try {
      Graph graph = load_network(arguments);
      auto identity = result.identity.find("network");
      std::string hash = fmt::format("{:016x}", structural_hash(graph));
      if (identity == result.identity.end() || identity->second.ends_with(hash)) return graph;
      remark = fmt::format("'{}' is another network now", name);
    } catch (const UserError& error) {
      remark = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace

std::string write_report(const std::string& folder, const std::string& output) {
  SearchResult result = read_search_result(folder);
  JournalRecord journal = read_journal(folder);
  std::string remark;
  std::optional<Graph> network = network_of(result, remark);
  std::string page = print_report({result, journal, folder, network ? &*network : nullptr, remark});
  std::string path = output.empty() ? folder + "/report.html" : output;
  write_file(path, {std::as_bytes(std::span(page))});
  return path;
}

}  // namespace lathe::cli
