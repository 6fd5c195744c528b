// compile.cpp: "lathe compile NETWORK": writes a network as a library, with the schedules that were
// tuned on this machine or those of a recipe.
#include "jobs/compile.h"

#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"

namespace lathe::cli {
namespace {

struct CompileArgs {
  CompileJobOptions job;
  TunedArguments tuned;
  PrecisionArguments precision;
  std::string passes;
};

/// Says how many of the units of work a recipe knew, and which it did not.
void print_known(const KnownSchedules& known) {
  fmt::print("schedules of the recipe: {} of {} units\n", known.units - known.unknown.size(),
             known.units);
  for (const std::string& unit : known.unknown) {
    fmt::print("  not of {:.66}\n", unit.substr(0, unit.find(") (") + 1));
  }
}

int run_compile(CompileArgs& options) {
  CompileJobOptions& job = options.job;
  job.max_error = options.tuned.max_error;
  job.tuned = !options.tuned.ignored;
  if (!options.passes.empty()) job.passes = parse_passes(options.passes);
  job.precision = *precision_named(options.precision.precision);
  job.calibration = source_of(options.precision.calibration);
  CompileJobResult made;
  {
    JobBar bar("compiling");
    made = compile_network(job, bar.listener());
  }
  for (const std::string& layer : made.kept) fmt::print(stderr, "lathe: {}\n", layer);
  if (made.schedules) print_known(*made.schedules);
  fmt::print("{}: libmodel.so, model.a, model.h, example.c, manifest.json\n", job.folder);
  fmt::print("call {0}_create, {0}_run and {0}_destroy, as example.c does\n", made.name);
  if (!made.precisions.are_all(Precision::f32)) {
    print_answers(made.original, made.narrow, precisions_in_words(made.precisions),
                  options.precision.calibration, job.threads);
  }
  return 0;
}

std::function<int()> set_up_compile(Command& app) {
  auto options = std::make_shared<CompileArgs>();
  CompileJobOptions& job = options->job;
  add_network_arguments(app, job.network);
  app.add_option("-o,--output FOLDER", job.folder,
                 "the folder to write: a new one, or one that Lathe wrote")
      ->required()
      ->writes();
  add_target_argument(app, job.target, "the machine to compile for");
  app.add_option("--host", job.library.host,
                 "the CPU of the machine that a GPU is in: aarch64, x86-64-v3, ...")
      ->otherwise("like this machine's");
  app.add_option("--threads", job.threads,
                 "number of workers to compile for; the library runs with any number")
      ->otherwise("1, or what the recipe says")
      ->check(range(1, 256));
  app.add_option("--recipe FILE", job.recipe,
                 "take the schedules of a bundle's winner.recipe, for a model that was trained");
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  add_normalize_argument(app, options->precision.calibration);
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_option("--passes LIST", options->passes,
                 "passes to run on the graph, in order, like 'FoldConstant,FuseOps,AlterOpLayout'")
      ->otherwise("the usual ones: 'lathe list passes'");
  app.add_option("--also SHAPES", job.also,
                 "compile for other shapes, too, as in 'batch=8', 'size=64' or "
                 "'x=8x3x224x224'; programs choose when they run");
  app.add_option("--name", job.library.name, "the first word of all names of functions")
      ->otherwise("the network's name");
  app.add_flag("--without-weights", job.library.without_weights,
               "of a GPU: leave the weights out, and make some up to be measured with");
  app.add_flag("--thorough", job.thorough, "optimise the code for longer");
  app.add_option("--seed", job.network.seed, "seed of the weights, where they are random");
  return [options] { return run_compile(*options); };
}

}  // namespace

Verb compile() {
  return {"compile", "write a network as a library for C", set_up_compile,
          "lathe compile model.onnx -o model --threads 2"};
}

}  // namespace lathe::cli
