// emit.cpp: "lathe emit NEST RECIPE --at STAGE": what the compiler makes of a nest, at any stage.
#include "cli/verb_nest.h"
#include "codegen/loops.h"
#include "nest/text.h"

namespace lathe::cli {
namespace {

struct Options {
  NestArguments arguments;
  std::string at = "loops";
};

int run(const Options& options) {
  Context context;
  Nest nest = load_nest(context, options.arguments.nest);
  for (const Judged& judged : try_recipe(nest, load_recipe(options.arguments.recipe))) {
    if (!judged.verdict.accepted()) {
      fmt::print(stderr, "lathe: {}\n{}", print(judged.step), print_verdict(judged.verdict, 2));
      return 1;
    }
    nest = judged.nest;
  }
  fmt::print("{}", options.at == "nest" ? print(nest) : print(scan(nest)));
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_nest_arguments(app, options->arguments);
  app.add_option("--at", options->at, "the stage to print")
      ->check(CLI::IsMember({"nest", "loops"}))
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace

Verb emit() { return {"emit", "print a nest after a recipe, at a stage of the compiler", prepare}; }

}  // namespace lathe::cli
