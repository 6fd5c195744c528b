// explain.cpp: "lathe explain NEST RECIPE": step by step, the loops before and after, the verdict
// and the cost.
#include "cli/verb_nest.h"
#include "codegen/loops.h"

namespace lathe::cli {
namespace {

std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

void print_state(const Nest& nest, const std::string& meaning) {
  Cost c = cost(nest);
  fmt::print("{}\n    {} MACs, {} weights, {} bytes touched{}\n\n", indented(print(scan(nest))),
             print_count(c.macs), print_count(c.weights), print_count(c.bytes), meaning);
}

int run(const NestArguments& arguments) {
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

std::function<int()> prepare(CLI::App& app) {
  auto arguments = std::make_shared<NestArguments>();
  add_nest_arguments(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Verb explain() {
  return {"explain", "show what each step of a recipe does, and why it may", prepare};
}

}  // namespace lathe::cli
