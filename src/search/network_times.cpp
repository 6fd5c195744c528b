// network_times.cpp: whole networks in turn. Interface: network_times.h.
#include "search/network_times.h"

#include <algorithm>
#include <chrono>

#include "search/measure.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

/// A network with inputs of zeros, and room for its outputs.
class Running {
 public:
  Running(const Compiled& compiled, int threads) : compiled_(compiled), runner_(compiled, threads) {
    auto room = [](const std::vector<CompiledFace>& faces, auto& buffers, auto& addresses) {
      for (const CompiledFace& face : faces) {
        long bytes = count_of(face.type.shape) * size_of(face.type.element);
        buffers.emplace_back(static_cast<size_t>(std::max(1L, bytes)));
      }
      for (auto& buffer : buffers) addresses.push_back(buffer.data());
    };
    room(compiled.inputs, inputs_, from_);
    room(compiled.outputs, outputs_, to_);
  }

  void run() { runner_.run(from_.data(), to_.data()); }

  /// Runs the nodes one by one and notes the time of each.
  void run_nodes(std::map<std::string, std::vector<double>>& times) {
    for (const CompiledNode& node : compiled_.nodes) {
      auto start = Clock::now();
      for (size_t i = 0; i < node.steps; ++i) runner_.run_step(node.first + i);
      times[node.name].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }

 private:
  const Compiled& compiled_;
  Runner runner_;
  std::vector<std::vector<std::byte>> inputs_, outputs_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

std::vector<std::unique_ptr<Running>> started(const std::vector<Compiled>& networks, int threads) {
  std::vector<std::unique_ptr<Running>> running;
  for (const Compiled& network : networks) {
    running.push_back(std::make_unique<Running>(network, threads));
    running.back()->run();
  }
  return running;
}

}  // namespace

std::vector<double> times_of_networks(const std::vector<Compiled>& networks, int threads) {
  pin(threads);
  auto running = started(networks, threads);
  std::vector<std::function<void()>> works;
  for (auto& each : running) works.emplace_back([&each] { each->run(); });
  return times_in_turn(works, {2.5, 7, 1e9});
}

std::vector<std::map<std::string, double>> times_of_nodes(const std::vector<Compiled>& networks,
                                                          int threads) {
  constexpr double seconds = 1.5;
  constexpr size_t least = 7;
  pin(threads);
  auto running = started(networks, threads);
  std::vector<std::map<std::string, std::vector<double>>> times(networks.size());
  auto begin = Clock::now();
  for (size_t round = 0;
       round < least || Clock::now() - begin < std::chrono::duration<double>(seconds); ++round) {
    for (size_t i = 0; i < running.size(); ++i) running[i]->run_nodes(times[i]);
  }
  std::vector<std::map<std::string, double>> medians(networks.size());
  for (size_t i = 0; i < networks.size(); ++i) {
    for (const auto& [node, all] : times[i]) medians[i][node] = median(all);
  }
  return medians;
}

}  // namespace lathe
