// report.cpp: "lathe report FOLDER": a page about a search, to read and to show.
#include "cli/verb.h"
#include "jobs/page.h"

namespace lathe::cli {
namespace {

struct Options {
  std::string folder, output;
};

int run(const Options& options) {
  fmt::print("{}\n", write_report(options.folder, options.output));
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
