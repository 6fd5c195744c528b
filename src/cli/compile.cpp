// compile.cpp: "lathe compile NETWORK": writes a network as a library, with the schedules that were
// tuned on this machine or those of a recipe.
#include "base/error.h"
#include "cli/verb_network.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"
#include "compile/library.h"
#include "jobs/made_from.h"
#include "program/rebatch.h"

namespace lathe::cli {
namespace {

struct CompileArgs {
  NetworkArguments network;
  TunedArguments tuned;
  PrecisionArguments precision;
  int threads = 0;  ///< 0: one, or as many as a recipe says
  std::string folder, target = "native", recipe;
  LibraryOptions library;
  bool thorough = false;
  std::string passes;
  std::vector<std::string> also;
};

/// Loads the network for other shapes: "batch=8", "size=64", "x=8x3x224x224", or several of them
/// with commas between. A file gets another batch size by being written for it.
Graph load_for_shapes(NetworkArguments network, const std::string& text) {
  std::optional<long> samples;
  for (size_t from = 0; from <= text.size();) {
    size_t end = std::min(text.find(',', from), text.size());
    std::string part = text.substr(from, end - from);
    from = end + 1;
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals);
    if (equals == std::string::npos || equals == 0) {
      fail("--also {}: write batch=N, size=N or INPUT=SHAPE, as in batch=8,size=64", text);
    }
    if (name != "batch" && name != "size") {
      std::erase_if(network.shapes,
                    [&](const std::string& shape) { return shape.starts_with(name + "="); });
      network.shapes.push_back(part);
      continue;
    }
    Shape extent = parse_shape(part.substr(equals + 1));
    if (extent.size() != 1) fail("--also {}: {} is a number", text, name);
    if (name == "size") {
      network.model.size = extent.front();
    } else if (is_network_file(network.network)) {
      samples = extent.front();
    } else {
      network.model.batch = extent.front();
    }
  }
  Graph graph = initialised(load_network(network), network.seed);
  return samples ? rebatched(graph, *samples) : graph;
}

/// Fails where a model is the one that a recipe was found for, and not what the recipe makes of it.
void check_is_changed(const CompileArgs& options, const Remade& found, const Graph& graph) {
  if (found.recipe.empty() || structure_of(graph) != found.making.structure) return;
  fail(
      "'{0}' is the network that '{1}' was found for, before its layers were changed. To compile "
      "trained weights: train the bundle's model.py, export it as ONNX and compile that. To "
      "compile "
      "'{0}' with its layers changed but not trained: add --apply {1}",
      options.network.network, options.recipe);
}

/// Fails where a recipe knows nothing of what is compiled: it is of another network.
void check_is_known(const CompileArgs& options, const Making& making,
                    const RecordedChoices& asked) {
  auto is_known = [&](const auto& unit) { return making.choices.schedules.contains(unit.first); };
  if (asked.schedules.empty()) return;
  if (std::any_of(asked.schedules.begin(), asked.schedules.end(), is_known)) return;
  fail("'{}' was found for '{}', and '{}' is another network: leave out --recipe", options.recipe,
       making.origin.network, options.network.network);
}

/// Says how many of the units of work the recipe knew, and which it did not.
void print_known(const RecordedChoices& known, const RecordedChoices& asked) {
  std::vector<std::string> unknown;
  for (const auto& [unit, choice] : asked.schedules) {
    if (!known.schedules.contains(unit)) unknown.push_back(unit.substr(0, unit.find(") (") + 1));
  }
  size_t all = asked.schedules.size();
  fmt::print("schedules of the recipe: {} of {} units\n", all - unknown.size(), all);
  for (const std::string& unit : unknown) fmt::print("  not of {:.66}\n", unit);
}

/// Writes a library whose code is as a recipe's bundle has it.
void compile_as(const CompileArgs& options, const Graph& graph, CompileOptions how) {
  Remade found = read_making(options.recipe);
  check_is_changed(options, found, graph);
  const Making& making = found.making;
  how.target.workers = options.threads > 0 ? options.threads : making.target.workers;
  if (how.target.name != making.target.name) {
    fmt::print(stderr, "lathe: warning: the recipe was found for {}, this is for {}\n",
               making.target.name, how.target.name);
  }
  ChoiceRecord record;
  Compiled compiled = lathe::compile(graph, record.noting(with_choices(how, making.choices)));
  check_is_known(options, making, record.choices());
  write_library(compiled, options.folder, options.library);
  print_known(making.choices, record.choices());
}

/// Writes a library with what was tuned on this machine, for all shapes that were asked for.
void compile_tuned(const CompileArgs& options, const Graph& graph,
                   const LayerPrecisions& precisions, CompileOptions how) {
  int threads = std::max(options.threads, 1);
  how.target.workers = threads;
  how.choose = choices_for(options.tuned, how.target, threads);
  how.layouts = layouts_for(options.tuned, how.target, threads);
  std::vector<Compiled> variants = {lathe::compile(graph, how)};
  for (const std::string& shapes : options.also) {
    Graph other = load_for_shapes(options.network, shapes);
    variants.push_back(lathe::compile(
        with_precisions(other, precisions, options.precision.calibration, options.threads), how));
  }
  write_library(std::move(variants), options.folder, options.library);
}

/// Returns how precisely layers compute. The recipe of a bundle says it of the layers of the
/// network that is trained.
LayerPrecisions precisions_for(const CompileArgs& options, const Graph& network) {
  if (options.recipe.empty()) return precisions_of(options.precision, options.network);
  return precisions_in(network, read_network_recipe(options.recipe),
                       *precision_named(options.precision.precision));
}

int run_compile(CompileArgs& options) {
  if (!options.recipe.empty()) options.recipe = recipe_file(options.recipe);
  CompileOptions how;
  how.target = target_or_machine(options.target);
  how.effort = options.thorough ? Effort::thorough : Effort::quick;
  how.max_error = options.tuned.max_error;
  if (!options.passes.empty()) how.passes = parse_passes(options.passes);
  if (!options.recipe.empty() && !options.also.empty()) {
    fail("--also cannot be used with --recipe, whose schedules are for one shape");
  }
  check_library(options.folder, options.library);
  Graph original = initialised(load_network(options.network), options.network.seed);
  LayerPrecisions precisions = precisions_for(options, original);
  Graph graph =
      with_precisions(original, precisions, options.precision.calibration, options.threads);
  {
    ProgressBar bar("compiling");
    how.progress = [&](size_t n, size_t all) { bar.show(n, all); };
    if (options.recipe.empty()) {
      compile_tuned(options, graph, precisions, how);
    } else {
      compile_as(options, graph, how);
    }
  }
  std::string name =
      options.library.name.empty() ? identifier_of(graph.name) : options.library.name;
  fmt::print("{}: libmodel.so, model.a, model.h, example.c, manifest.json\n", options.folder);
  fmt::print("call {0}_create, {0}_run and {0}_destroy, as example.c does\n", name);
  if (!precisions.are_all(Precision::f32)) {
    print_answers(original, graph, precisions_in_words(precisions), options.precision.calibration,
                  options.threads);
  }
  return 0;
}

std::function<int()> set_up_compile(Command& app) {
  auto options = std::make_shared<CompileArgs>();
  add_network_arguments(app, options->network);
  app.add_option("-o,--output FOLDER", options->folder,
                 "the folder to write: a new one, or one that Lathe wrote")
      ->required()
      ->writes();
  add_target_argument(app, options->target, "the machine to compile for");
  app.add_option("--host", options->library.host,
                 "the CPU of the machine that a GPU is in: aarch64, x86-64-v3, ...")
      ->otherwise("like this machine's");
  app.add_option("--threads", options->threads,
                 "number of workers to compile for; the library runs with any number")
      ->otherwise("1, or what the recipe says")
      ->check(range(1, 256));
  app.add_option("--recipe FILE", options->recipe,
                 "take the schedules of a bundle's winner.recipe, for a model that was trained");
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  add_normalize_argument(app, options->precision.calibration);
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_option("--passes LIST", options->passes,
                 "passes to run on the graph, in order, like 'FoldConstant,FuseOps,AlterOpLayout'")
      ->otherwise("the usual ones: 'lathe list passes'");
  app.add_option("--also SHAPES", options->also,
                 "compile for other shapes, too, as in 'batch=8', 'size=64' or "
                 "'x=8x3x224x224'; programs choose when they run");
  app.add_option("--name", options->library.name, "the first word of all names of functions")
      ->otherwise("the network's name");
  app.add_flag("--without-weights", options->library.without_weights,
               "of a GPU: leave the weights out, and make some up to be measured with");
  app.add_flag("--thorough", options->thorough, "optimise the code for longer");
  app.add_option("--seed", options->network.seed, "seed of the weights, where they are random");
  return [options] { return run_compile(*options); };
}

}  // namespace

Verb compile() {
  return {"compile", "write a network as a library for C", set_up_compile,
          "lathe compile model.onnx -o model --threads 2"};
}

}  // namespace lathe::cli
