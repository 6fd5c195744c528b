// completion.cpp: "lathe completion SHELL": what makes a shell complete commands of lathe.
#include <fmt/format.h>

#include "cli/verb_help.h"

namespace lathe::cli {
namespace {

std::function<int()> set_up_completion(Command& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "the shell that reads the script")
      ->required()
      ->check(one_of(shells()));
  return [shell] {
    fmt::print("{}", print_completion(*shell));
    return 0;
  };
}

}  // namespace

Verb completion() {
  return {"completion", "print a script that completes commands in a shell", set_up_completion,
          "source <(lathe completion bash)"};
}

}  // namespace lathe::cli
