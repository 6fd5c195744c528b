// apply.cpp: "lathe apply NEST RECIPE": the verdict of every step, the loops and the cost before
// and after, and what the result means.
#include "cli/verb_nest.h"

namespace lathe::cli {
namespace {

struct ApplyArgs {
  NestArguments arguments;
  bool json = false;
};

void print_steps(const std::vector<Judged>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    fmt::print("{:>3}  {}\n", i + 1, print(steps[i].step));
    fmt::print("{}", print_verdict(steps[i].verdict, 5));
  }
  if (!steps.empty()) fmt::print("\n");
}

void print_loops(const char* when, const Nest& nest) {
  for (size_t s : sequence(nest.order)) {
    std::string head = fmt::format("{:<8}{}: ", when, nest.statements()[s].name);
    fmt::print("{}{}\n", head, wrapped(print_loops_line(nest.order[s]), 10, head.size()));
    when = "";
  }
}

int run_apply(const ApplyArgs& options) {
  Context context;
  Nest nest = load_nest(context, options.arguments.nest);
  Recipe recipe = load_recipe(options.arguments.recipe);
  std::vector<Judged> steps = try_recipe(nest, recipe, options.arguments.limits);
  const Nest& result = steps.empty() ? nest : steps.back().nest;
  bool accepted = steps.empty() || steps.back().verdict.accepted();
  if (options.json) {
    fmt::print("{}\n", applied_to_json(nest, recipe, steps).dump(2));
    return accepted ? 0 : 1;
  }
  print_steps(steps);
  print_loops("before", nest);
  print_loops("after", result);
  fmt::print("means   {}\n\n{}", meaning_after(nest, steps, steps.size()),
             print_costs(cost(nest), cost(result)));
  if (!accepted) {
    fmt::print("\nStep {} was refused; what is shown after is without it.\n", steps.size());
  }
  return accepted ? 0 : 1;
}

std::function<int()> set_up_apply(Command& app) {
  auto options = std::make_shared<ApplyArgs>();
  add_nest_arguments(app, options->arguments);
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_apply(*options); };
}

}  // namespace

Verb apply() {
  return {"apply", "apply a recipe to a nest: verdicts, loops, cost", set_up_apply,
          "lathe apply 'conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)' 'group(2)'"};
}

}  // namespace lathe::cli
