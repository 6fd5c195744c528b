// help.cpp: "lathe help [VERB]".
#include <fmt/format.h>

#include "base/error.h"
#include "cli/verb.h"

namespace lathe::cli {
namespace {

void print_overview() {
  fmt::print(
      "Lathe: a neural-network compiler that is allowed to change the network\n\n"
      "usage: lathe VERB ...\n\n");
  for (const Verb& verb : all()) fmt::print("  {:<13}{}\n", verb.name, verb.summary);
  fmt::print(
      "\nA NETWORK is a built-in one, resnet34 ('lathe list models' shows them), an .onnx\n"
      "file, or a .graph file.\n\n"
      "A NEST is an operator, conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1), or a\n"
      ".nest file; 'lathe list ops' shows the operators. A RECIPE is a sequence of\n"
      "steps, 'split(co, 16) -> vectorize(co.i)'; 'lathe list transforms' shows them.\n"
      "A step on loop x acts on every statement in a loop of that name; s:x means\n"
      "the one of statement s alone.\n\n"
      "Exit status: 0 done, 1 a step was refused, 2 wrong input, 3 a bug of Lathe,\n"
      "130 interrupted (Ctrl-C).\n");
}

int run(const std::string& name) {
  if (name.empty()) {
    print_overview();
    return 0;
  }
  for (const Verb& verb : all()) {
    if (verb.name != name) continue;
    CLI::App app{verb.summary, "lathe " + verb.name};
    verb.prepare(app);
    fmt::print("{}", app.help());
    return 0;
  }
  fail("no verb '{}'; 'lathe help' lists them", name);
}

std::function<int()> prepare(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("VERB", *name, "the verb to explain");
  return [name] { return run(*name); };
}

}  // namespace

Verb help() { return {"help", "explain Lathe, or one of its verbs", prepare}; }

}  // namespace lathe::cli
