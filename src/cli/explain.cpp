// explain.cpp: "lathe explain NEST RECIPE": step by step, the loops before and after, the verdict
// and the cost; "lathe explain FOLDER [LAYER]": what a search did to a network, and why.
#include "jobs/explain.h"

#include "base/error.h"
#include "cli/verb_explain.h"
#include "cli/verb_nest.h"

namespace lathe::cli {
namespace {

struct ExplainArgs {
  NestArguments arguments;
  bool json = false;
};

int run_explain(const ExplainArgs& options) {
  const NestArguments& arguments = options.arguments;
  if (is_search(arguments.nest)) {
    return arguments.recipe.empty() ? print_run(arguments.nest, options.json)
                                    : print_layer(arguments.nest, arguments.recipe, options.json);
  }
  if (options.json) fail("--json is for a search's folder; 'lathe apply --json' has it for a nest");
  Context context;
  Nest nest = load_nest(context, arguments.nest);
  std::vector<Judged> steps = try_recipe(nest, load_recipe(arguments.recipe), arguments.limits);
  fmt::print("{}\n\n", arguments.nest);
  print_state(nest, "");
  for (size_t i = 0; i < steps.size(); ++i) {
    const Transform& transform = find_transform(steps[i].step.name);
    fmt::print("Step {}: {}\n", i + 1, print(steps[i].step));
    fmt::print("  {}\n", transform.rewrite);
    fmt::print("{}\n", print_verdict(steps[i].verdict, 2));
    if (!steps[i].verdict.accepted()) return 1;
    print_state(steps[i].nest, "; " + meaning_after(nest, steps, i + 1));
  }
  return 0;
}

std::function<int()> set_up_explain(Command& app) {
  auto options = std::make_shared<ExplainArgs>();
  add_nest_arguments(app, options->arguments);
  app.option("NEST")->description(
      "an operator, like conv(co=64, ...), a .nest file, or the folder of a search");
  app.option("RECIPE")->description(
      "steps, like 'split(co, 16) -> group(2)', or a .json file of steps; of a search, a layer");
  app.add_flag("--json", options->json, "print JSON, for machines; of a search only");
  return [options] { return run_explain(*options); };
}

}  // namespace

Verb explain() {
  return {"explain", "show what steps do, or what a search did, and why", set_up_explain,
          "lathe explain 'conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)' 'group(2)'"};
}

}  // namespace lathe::cli
