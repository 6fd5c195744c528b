// help.cpp: "lathe help [VERB]".
#include <fmt/format.h>

#include "cli/verb_help.h"

namespace lathe::cli {
namespace {

std::function<int()> set_up_help(Command& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("VERB", *name, "the verb to explain")->suggests(verb_names());
  return [name] {
    fmt::print("{}", name->empty() ? print_overview() : print_help(find_verb(*name)));
    return 0;
  };
}

}  // namespace

Verb help() {
  return {"help", "explain Lathe, or one of its verbs", set_up_help, "lathe help optimize"};
}

}  // namespace lathe::cli
