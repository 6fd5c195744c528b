// report.cpp: "lathe report FOLDER": a page about a search, to read and to show.
#include "report/report_page.h"

#include <optional>
#include <span>

#include "base/error.h"
#include "cli/verb_network.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct Options {
  std::string folder, output;
};

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

int run(const Options& options) {
  SearchResult result = read_search_result(options.folder);
  JournalRecord journal = read_journal(options.folder);
  std::string remark;
  std::optional<Graph> network = network_of(result, remark);
  std::string page =
      print_report({result, journal, options.folder, network ? &*network : nullptr, remark});
  std::string path = options.output.empty() ? options.folder + "/report.html" : options.output;
  write_file(path, {std::as_bytes(std::span(page))});
  fmt::print("{}\n", path);
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FOLDER", options->folder, "of 'lathe optimize ... --work-dir FOLDER'")
      ->required();
  app.add_option("-o,--output", options->output, "the page; FOLDER/report.html unless told");
  return [options] { return run(*options); };
}

}  // namespace

Verb report() { return {"report", "write a page about a search", prepare}; }

}  // namespace lathe::cli
