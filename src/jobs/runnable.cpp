// runnable.cpp: see runnable.h.
#include "jobs/runnable.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "compile/executor.h"
#include "compile/library.h"
#include "program/random_inputs.h"

namespace lathe {
namespace {

/// Returns the folder of the compiled network: a bundle has it inside.
std::string library_of(const std::string& folder) {
  std::error_code ignored;
  bool is_bundle = std::filesystem::exists(folder + "/bundle.json", ignored);
  return is_bundle ? folder + "/library" : folder;
}

/// A network that was compiled before.
Runnable runnable_library(const RunnableOptions& options) {
  const NetworkArguments& network = options.network;
  std::string folder = library_of(network.network);
  if (!is_library(folder)) {
    fail("the folder '{}' has no manifest.json: 'lathe compile' writes folders that can be run",
         folder);
  }
  const ModelOptions& model = network.model;
  if (!network.shapes.empty() || !network.recipes.empty() || network.seed != 0 ||
      model.batch != 1 || model.classes || model.size) {
    fail(
        "'{}' is compiled: --shape, --apply, --batch, --classes, --size and --seed are for "
        "'lathe compile'",
        network.network);
  }
  if (options.prepare)
    fail("'{}' is compiled: --precision is for 'lathe compile'", network.network);
  auto library = std::make_shared<LoadedLibrary>(folder, options.threads);
  return {library->inputs(), library->outputs(),
          [library](const std::vector<Array>& inputs, const Runnable::Progress&) {
            return library->run(inputs);
          }};
}

std::vector<CompiledFace> faces_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<CompiledFace> faces;
  for (ValueId id : ids) faces.push_back({graph.values[id].name, graph.values[id].type});
  return faces;
}

}  // namespace

bool is_network_folder(const std::string& network) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(network, ignored)) return false;
  std::vector<ModelEntry> models = list_models();
  return is_library(library_of(network)) ||
         std::none_of(models.begin(), models.end(),
                      [&](const ModelEntry& model) { return model.name == network; });
}

Runnable make_runnable(const RunnableOptions& options, const std::map<std::string, Array>& known) {
  if (is_network_folder(options.network.network)) return runnable_library(options);
  Graph graph = initialised(load_network(options.network, known), options.network.seed);
  return make_runnable(options.prepare ? options.prepare(graph) : graph, options);
}

Runnable make_runnable(const Graph& graph, const RunnableOptions& options) {
  std::map<std::string, long> below;
  for (ValueId id : graph.inputs) below[graph.values[id].name] = below_of(graph, id);
  ExecutorOptions how;
  how.threads = options.threads;
  how.choose = options.choose;
  how.layouts = options.layouts;
  how.max_error = options.max_error;
  auto executor = std::make_shared<Executor>(graph, how);
  return {faces_of(graph, graph.inputs), faces_of(graph, graph.outputs),
          [executor](const std::vector<Array>& inputs, const Runnable::Progress& progress) {
            return executor->run(inputs, progress);
          },
          below};
}

}  // namespace lathe
