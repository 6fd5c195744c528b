// list.cpp: "lathe list transforms|ops|models|judges|metrics|passes|strategies|families|targets":
// what there is.
#include "jobs/listing.h"

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "cli/verb_text.h"

namespace lathe::cli {
namespace {

void print_rows(const std::vector<ListRow>& rows) {
  for (const ListRow& row : rows) {
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
  std::vector<ListRow> rows = list_of(options.what);
  if (!options.json) {
    print_rows(rows);
    return 0;
  }
  fmt::print("{}\n", to_json(rows).dump(2));
  return 0;
}

std::function<int()> set_up_list(Command& app) {
  auto options = std::make_shared<ListArgs>();
  app.add_option("WHAT", options->what, "what to list")->required()->check(one_of(listed()));
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_list(*options); };
}

}  // namespace

Verb list() {
  return {"list", "list transforms, operators, models, metrics, passes and more", set_up_list,
          "lathe list transforms"};
}

}  // namespace lathe::cli
