// Networks beside the original, measured on other machines of one kind: several at once.
//
//   WorkerBench bench(pool, stop);
//   bench.together([&] { return measure_layers(tables, space, network, bench, ...); });
//
// What is asked for together is measured wherever a machine is free: who asks gets JobsWait, and is
// called again whenever an answer came. Elsewhere, who asks waits for the answer.
#pragma once

#include "search/network_bench.h"
#include "search/worker_pool.h"

namespace lathe {

class WorkerBench : public NetworkMeasurer {
 public:
  /// The pool must live as long. Where "stop" says so, who waits gets "stopped" thrown: it must
  /// throw.
  WorkerBench(WorkerPool& pool, std::function<bool()> stop, std::function<void()> stopped)
      : pool_(pool), stop_(std::move(stop)), stopped_(std::move(stopped)) {}

  /// Fails: machines elsewhere are told recipes.
  NetworkTimes measure(const Graph& candidate) override;
  NetworkTimes measure_made(const NetworkRecipe& recipe,
                            const std::function<Graph()>& candidate) override;

  /// Returns what "work" returns once it no longer throws JobsWait; calls it until then.
  bool together(const std::function<bool()>& work);

 private:
  WorkerPool& pool_;
  std::function<bool()> stop_;
  std::function<void()> stopped_;
  bool is_together_ = false;
  std::map<std::string, NetworkTimes> known_;  // by recipes
  std::map<long, std::string> asked_;          // those that wait

  /// Waits for an answer. Returns whether there was one.
  bool wait(const std::function<bool()>& stop);
};

}  // namespace lathe
