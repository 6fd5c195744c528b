// compile.cpp: a network written as a library, as a job. Interface: compile.h.
#include "jobs/compile.h"

#include <algorithm>

#include "base/error.h"
#include "compile/tuned.h"
#include "jobs/made_from.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

/// Fails where a model is the one that a recipe was found for, and not what the recipe makes of it.
void check_is_changed(const CompileJobOptions& options, const Remade& found, const Graph& graph) {
  if (found.recipe.empty() || structure_of(graph) != found.making.structure) return;
  fail(
      "'{0}' is the network that '{1}' was found for, before its layers were changed. To compile "
      "trained weights: train the bundle's model.py, export it as ONNX and compile that. To "
      "compile "
      "'{0}' with its layers changed but not trained: add --apply {1}",
      options.network.network, options.recipe);
}

/// Fails where a recipe knows nothing of what is compiled: it is of another network.
void check_is_known(const CompileJobOptions& options, const Making& making,
                    const RecordedChoices& asked) {
  auto is_known = [&](const auto& unit) { return making.choices.schedules.contains(unit.first); };
  if (asked.schedules.empty()) return;
  if (std::any_of(asked.schedules.begin(), asked.schedules.end(), is_known)) return;
  fail("'{}' was found for '{}', and '{}' is another network: leave out --recipe", options.recipe,
       making.origin.network, options.network.network);
}

/// Returns how the units of work of a network stand to a recipe.
KnownSchedules known_of(const RecordedChoices& known, const RecordedChoices& asked) {
  KnownSchedules result{asked.schedules.size(), {}};
  for (const auto& [unit, choice] : asked.schedules) {
    if (!known.schedules.contains(unit)) result.unknown.push_back(unit);
  }
  return result;
}

/// Writes a library whose code is as a recipe's bundle has it.
KnownSchedules compile_as(const CompileJobOptions& options, const Graph& graph, CompileOptions how,
                          const JobListener& listener) {
  Remade found = read_making(options.recipe);
  check_is_changed(options, found, graph);
  const Making& making = found.making;
  how.target.workers = options.threads > 0 ? options.threads : making.target.workers;
  if (how.target.name != making.target.name) {
    listener(JobWarning{fmt::format("the recipe was found for {}, this is for {}",
                                    making.target.name, how.target.name)});
  }
  ChoiceRecord record;
  Compiled compiled = compile(graph, record.noting(with_choices(how, making.choices)));
  check_is_known(options, making, record.choices());
  write_library(compiled, options.folder, options.library);
  return known_of(making.choices, record.choices());
}

/// Returns a network in the precisions of the job. Layers that stay f32 are added to "kept".
Graph narrow(const Graph& graph, const CompileJobOptions& options,
             const LayerPrecisions& precisions, std::vector<std::string>& kept,
             const JobListener& listener) {
  Narrowed found =
      with_precision(graph, {precisions, options.calibration, options.threads}, listener);
  kept.insert(kept.end(), found.kept.begin(), found.kept.end());
  return found.network;
}

/// Writes a library with what was tuned on this machine, for all shapes that were asked for.
void compile_tuned(const CompileJobOptions& options, CompileJobResult& result, CompileOptions how,
                   const JobListener& listener) {
  int threads = std::max(options.threads, 1);
  how.target.workers = threads;
  if (options.tuned) use_tuned(how, threads, listener);
  std::vector<Compiled> variants = {compile(result.narrow, how)};
  for (const std::string& shapes : options.also) {
    Graph other = narrow(load_for_shapes(options.network, shapes), options, result.precisions,
                         result.kept, listener);
    variants.push_back(compile(other, how));
  }
  write_library(std::move(variants), options.folder, options.library);
}

/// Returns how precisely layers compute. The recipe of a bundle says it of the layers of the
/// network that is trained.
LayerPrecisions precisions_for(const CompileJobOptions& options, const Graph& network) {
  if (options.recipe.empty()) return precisions_of(options.network, options.precision);
  return precisions_in(network, read_network_recipe(options.recipe), options.precision);
}

}  // namespace

Graph load_for_shapes(NetworkArguments network, const std::string& shapes) {
  std::optional<long> samples;
  for (size_t from = 0; from <= shapes.size();) {
    size_t end = std::min(shapes.find(',', from), shapes.size());
    std::string part = shapes.substr(from, end - from);
    from = end + 1;
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals);
    if (equals == std::string::npos || equals == 0) {
      fail("--also {}: write batch=N, size=N or INPUT=SHAPE, as in batch=8,size=64", shapes);
    }
    if (name != "batch" && name != "size") {
      std::erase_if(network.shapes,
                    [&](const std::string& shape) { return shape.starts_with(name + "="); });
      network.shapes.push_back(part);
      continue;
    }
    Shape extent = parse_shape(part.substr(equals + 1));
    if (extent.size() != 1) fail("--also {}: {} is a number", shapes, name);
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

void use_tuned(CompileOptions& options, int threads, const JobListener& listener) {
  options.choose = tuned_choices(tuned_path(), options.target, threads,
                                 [&](const std::string& what) { listener(JobWarning{what}); });
  options.layouts = tuned_layouts(tuned_path(), options.target, threads);
}

CompileJobResult compile_network(CompileJobOptions options, const JobListener& listener) {
  if (!options.recipe.empty()) options.recipe = recipe_file(options.recipe);
  CompileOptions how;
  how.target = target_or_machine(options.target);
  how.effort = options.thorough ? Effort::thorough : Effort::quick;
  how.max_error = options.max_error;
  how.passes = options.passes;
  how.progress = [&](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped before all of the network was compiled");
    listener(WorkDone{"nodes compiled", done, all});
  };
  if (!options.recipe.empty() && !options.also.empty()) {
    fail("--also cannot be used with --recipe, whose schedules are for one shape");
  }
  check_library(options.folder, options.library);
  CompileJobResult result;
  result.original = initialised(load_network(options.network), options.network.seed);
  result.precisions = precisions_for(options, result.original);
  result.narrow = narrow(result.original, options, result.precisions, result.kept, listener);
  result.name =
      options.library.name.empty() ? identifier_of(result.narrow.name) : options.library.name;
  if (options.recipe.empty()) {
    compile_tuned(options, result, how, listener);
  } else {
    result.schedules = compile_as(options, result.narrow, how, listener);
  }
  return result;
}

}  // namespace lathe
