// A network that is ready to run, wherever it came from.
//
//   Runnable file = make_runnable({.network = {.network = "model.onnx"}});
//   Runnable folder = make_runnable({.network = {.network = "out"}});     written by lathe compile
//   std::vector<Array> outputs = file.run(inputs, nullptr);
#pragma once

#include <functional>
#include <map>

#include "compile/compile.h"
#include "jobs/network_source.h"

namespace lathe {

struct RunnableOptions {
  NetworkArguments network;  ///< a network, or a folder: of a compiled network, or of a bundle
  int threads = 1;
  Chooser choose = nullptr;         ///< as in CompileOptions
  LayoutChooser layouts = nullptr;  ///< as in CompileOptions
  double max_error = any_error;     ///< as in CompileOptions
  /// What is done to a graph before it is compiled. Null: nothing.
  std::function<Graph(const Graph&)> prepare = nullptr;
};

struct Runnable {
  using Progress = std::function<void(size_t, size_t)>;

  std::vector<CompiledFace> inputs, outputs;
  std::function<std::vector<Array>(const std::vector<Array>&, const Progress&)> run;
  std::map<std::string, long> below = {};  ///< of whole inputs, where the graph says it
};

/// Is the network a folder? One that is no library does not hide a built-in network of its name.
bool is_network_folder(const std::string& network);

/// Loads a folder, or a graph, which is compiled as it runs. Values of inputs may be known before.
Runnable make_runnable(const RunnableOptions& options,
                       const std::map<std::string, Array>& known = {});

/// Makes a graph ready, whose weights have data. Of the options, the network is not read.
Runnable make_runnable(const Graph& graph, const RunnableOptions& options);

}  // namespace lathe
