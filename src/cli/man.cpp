// man.cpp: "lathe man [VERB]": the pages of the manual.
#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "cli/verb_help.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct ManArgs {
  std::string verb, folder;
};

void write_page(const std::string& folder, const std::string& name, const std::string& page) {
  write_file(fmt::format("{}/{}.1", folder, name), {std::as_bytes(std::span(page))});
}

/// Writes all pages into a folder, which is made if it is not there.
void write_pages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("cannot make the folder '{}': {}", folder, error.message());
  write_page(folder, "lathe", print_man_overview());
  for (const Verb& verb : all()) write_page(folder, "lathe-" + verb.name, print_man(verb));
}

int run_man(const ManArgs& options) {
  if (!options.folder.empty()) {
    if (!options.verb.empty()) fail("-o writes the pages of all verbs; leave out the VERB");
    write_pages(options.folder);
  } else {
    fmt::print("{}",
               options.verb.empty() ? print_man_overview() : print_man(find_verb(options.verb)));
  }
  return 0;
}

std::function<int()> set_up_man(Command& app) {
  auto options = std::make_shared<ManArgs>();
  app.add_option("VERB", options->verb, "the verb that the page is about")->suggests(verb_names());
  app.add_option("-o,--output FOLDER", options->folder,
                 "write all pages to a folder, as lathe.1, lathe-apply.1 and so on")
      ->writes();
  return [options] { return run_man(*options); };
}

}  // namespace

Verb man() {
  return {"man", "print a page of the manual", set_up_man, "lathe man gate | man -l -"};
}

}  // namespace lathe::cli
