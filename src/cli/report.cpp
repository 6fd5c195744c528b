// report.cpp: "lathe report FOLDER": a page about a search, to read and to show.
#include "cli/verb.h"
#include "jobs/page.h"

namespace lathe::cli {
namespace {

struct ReportArgs {
  std::string folder, output;
};

int run_report(const ReportArgs& options) {
  fmt::print("{}\n", write_report(options.folder, options.output));
  return 0;
}

std::function<int()> set_up_report(Command& app) {
  auto options = std::make_shared<ReportArgs>();
  app.add_option("FOLDER", options->folder, "the folder that 'lathe optimize' wrote")->required();
  app.add_option("-o,--output FILE", options->output, "the page to write")
      ->writes()
      ->otherwise("FOLDER/report.html");
  return [options] { return run_report(*options); };
}

}  // namespace

Verb report() {
  return {"report", "write a page about a search", set_up_report,
          "lathe report runs/r18 -o page.html"};
}

}  // namespace lathe::cli
