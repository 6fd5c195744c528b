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
  void run_nodes(std::map<std::string, Times>& times) {
    for (const CompiledNode& node : compiled_.nodes) {
      times[node.name].add([&] {
        for (size_t i = 0; i < node.steps; ++i) runner_.run_step(node.first + i);
      });
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
  return times_in_turn(works, {2, 5, 1e9});
}

std::vector<std::map<std::string, double>> times_of_nodes(const std::vector<Compiled>& networks,
                                                          int threads) {
  constexpr double seconds = 1.5;
  constexpr size_t least = 3;
  pin(threads);
  auto running = started(networks, threads);
  std::vector<std::map<std::string, Times>> times(networks.size());
  auto begin = Clock::now();
  for (size_t round = 0;
       round < least || Clock::now() - begin < std::chrono::duration<double>(seconds); ++round) {
    for (size_t i = 0; i < running.size(); ++i) running[i]->run_nodes(times[i]);
  }
  std::vector<std::map<std::string, double>> result(networks.size());
  for (const auto& [node, first] : times.front()) {
    std::vector<Times> of_node;
    for (auto& each : times) of_node.push_back(each[node]);
    std::vector<double> typical = typical_times(of_node);
    for (size_t i = 0; i < typical.size(); ++i) result[i][node] = typical[i];
  }
  return result;
}

}  // namespace lathe
