// call_runner.cpp: networks that run in this process, for C. Interface: lathe.h.
//
// A network all of whose nodes can be compiled reads and writes the caller's memory. Others, and
// folders that were compiled before, go through arrays, which are copied.
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "calls/call_interface.h"
#include "calls/call_network.h"
#include "jobs/runnable.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

using Buffers = std::function<void(const void* const*, void* const*)>;

/// How a network is run: on buffers of the caller.
struct OnBuffers {
  std::vector<CompiledFace> inputs, outputs;
  Buffers run;
};

OnBuffers compiled_in_place(const Graph& graph, const CompileOptions& options) {
  Compiled compiled = compile(graph, options);
  auto runner = std::make_shared<Runner>(compiled, options.target.workers);
  return {
      compiled.inputs, compiled.outputs,
      [runner](const void* const* inputs, void* const* outputs) { runner->run(inputs, outputs); }};
}

/// Runs a network that takes arrays.
void run_on_arrays(const Runnable& network, const void* const* inputs, void* const* outputs) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const Type& type = network.inputs[i].type;
    size_t bytes = static_cast<size_t>(count_of(type.shape) * size_of(type.element));
    arrays.push_back(Array::of_bytes(type.element, type.shape,
                                     {static_cast<const std::byte*>(inputs[i]), bytes}));
  }
  std::vector<Array> found = network.run(arrays, nullptr);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].shape() != network.outputs[i].type.shape) {
      fail(
          "the output {} is {} this time: networks whose shapes depend on data are for 'lathe run'",
          network.outputs[i].name, print_shape(found[i].shape()));
    }
    std::memcpy(outputs[i], found[i].bytes().data(), found[i].bytes().size());
  }
}

OnBuffers through_arrays(Runnable network) {
  for (const CompiledFace& output : network.outputs) {
    if (!output.type.dynamic) continue;
    fail("the shape of the output {} depends on data: such networks are for 'lathe run'",
         output.name);
  }
  auto inputs = network.inputs, outputs = network.outputs;
  return {inputs, outputs,
          [network](const void* const* in, void* const* out) { run_on_arrays(network, in, out); }};
}

/// Returns the graph of a network, for so many samples unless that is 0.
Graph load_for(const NetworkArguments& network, long samples) {
  if (samples == 0) return initialised(load_network(network), network.seed);
  return load_for_shapes(network, fmt::format("batch={}", samples));
}

OnBuffers open(Options& options, const JobListener& listener) {
  NetworkArguments network = network_options(options);
  std::string target = "native";
  int threads = 1;
  long samples = 0;
  double max_error = any_error;
  options.read("target", target);
  options.read("threads", threads, {0, 256});
  options.read("samples", samples, {1, 1 << 20});
  options.read("max_error", max_error, {0});
  options.check_all_read();
  CompileOptions how;
  how.target = machine_named(target);
  if (threads == 0) threads = processors();
  how.target.workers = threads;
  how.max_error = max_error;
  use_tuned(how, threads, listener);
  how.progress = [&](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped before all of the network was compiled");
    listener(WorkDone{"nodes compiled", done, all});
  };
  RunnableOptions runnable{network, how.target, threads, how.choose, how.layouts, max_error};
  if (is_network_folder(network.network)) return through_arrays(make_runnable(runnable));
  Graph graph = load_for(network, samples);
  if (is_compilable(graph)) return compiled_in_place(graph, how);
  return through_arrays(make_runnable(graph, runnable));
}

nlohmann::json faces_to_json(const std::vector<CompiledFace>& faces) {
  nlohmann::json all = nlohmann::json::array();
  for (const CompiledFace& face : faces) {
    all.push_back(
        {{"name", face.name}, {"element", name_of(face.type.element)}, {"shape", face.type.shape}});
  }
  return all;
}

}  // namespace
}  // namespace lathe

struct lathe_runner {
  lathe::OnBuffers network;
  std::string about;
  std::mutex mutex;
};

lathe_runner* lathe_runner_open(const char* options, const lathe_listener* listener) {
  std::unique_ptr<lathe_runner> made;
  lathe::guarded([&] {
    lathe::ForeignListener foreign(listener);
    lathe::Options given(options == nullptr ? "{}" : options);
    made = std::make_unique<lathe_runner>();
    made->network = lathe::open(given, foreign.listener());
    made->about = nlohmann::json{{"inputs", lathe::faces_to_json(made->network.inputs)},
                                 {"outputs", lathe::faces_to_json(made->network.outputs)}}
                      .dump();
  });
  return lathe_error()[0] == '\0' ? made.release() : nullptr;
}

void lathe_runner_close(lathe_runner* runner) { delete runner; }

const char* lathe_runner_about(const lathe_runner* runner) { return runner->about.c_str(); }

lathe_status lathe_runner_run(lathe_runner* runner, const void* const* inputs,
                              void* const* outputs) {
  return lathe::guarded([&] {
    std::lock_guard lock(runner->mutex);
    runner->network.run(inputs, outputs);
  });
}
