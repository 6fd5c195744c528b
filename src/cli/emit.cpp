// emit.cpp: "lathe emit NEST RECIPE --at STAGE": what the compiler makes of a nest, of a layer of a
// network, or of its graph, at any stage.
#include "jobs/emit.h"

#include "cli/verb_listener.h"
#include "cli/verb_nest.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"

namespace lathe::cli {
namespace {

struct EmitArgs {
  NestArguments arguments;
  TunedArguments tuned;
  EmitOptions job;
};

/// Sets what is compiled: NETWORK:LAYER, if the text before the last colon may name a network, or a
/// network if its graph is wanted; else a nest.
void set_subject(EmitOptions& job, const std::string& text) {
  size_t colon = text.rfind(':');
  if (job.at == "graph") {
    job.network.network = text;
  } else if (colon == std::string::npos || text.find('(') != std::string::npos) {
    job.nest = text;
  } else {
    job.network.network = text.substr(0, colon);
    job.layer = text.substr(colon + 1);
  }
}

int run_emit(const EmitArgs& options) {
  EmitOptions job = options.job;
  set_subject(job, options.arguments.nest);
  job.recipe = options.arguments.recipe;
  job.limits = options.arguments.limits;
  job.tuned = !options.tuned.ignored;
  Emitted made = lathe::emit(job, showing_warnings());
  if (made.refused) {
    fmt::print(stderr, "lathe: {}\n{}", print(made.refused->step),
               print_verdict(made.refused->verdict, 2));
    return 1;
  }
  fmt::print("{}", made.text);
  return 0;
}

std::function<int()> set_up_emit(Command& app) {
  auto options = std::make_shared<EmitArgs>();
  add_nest_arguments(app, options->arguments);
  app.option("NEST")->description(
      "an operator, like conv(co=64, ...), a .nest file, a layer of a network: NETWORK:LAYER, or, "
      "for --at graph, a network");
  app.add_option("--at STAGE", options->job.at, "the stage of the compiler to print")
      ->check(one_of(emitted_stages()));
  add_target_argument(app, options->job.target, "the machine that code is shown for");
  app.add_option("--threads", options->job.threads, "number of workers to compile for")
      ->check(range(1, 256));
  app.add_option("--passes LIST", options->job.passes,
                 "passes to run on a graph, in order, like 'FoldConstant,FuseOps'")
      ->otherwise("the usual ones");
  app.add_option("--after PASS", options->job.after, "the last pass to run; 'lathe list passes'");
  app.add_flag("--diff", options->job.diff, "print what that pass changed");
  add_tuned_arguments(app, options->tuned);
  return [options] { return run_emit(*options); };
}

}  // namespace

Verb emit() {
  return {"emit", "print a nest or a layer NETWORK:LAYER at a stage of the compiler", set_up_emit,
          "lathe emit 'matmul(i=64, j=64, k=64)' 'split(j, 8) -> vectorize(j.i)' --at loops"};
}

}  // namespace lathe::cli
