// network_times.cpp: whole networks in turn. Interface: network_times.h.
#include "search/network_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

long bytes_of(const CompiledFace& face) {
  return std::max(1L, count_of(face.type.shape) * size_of(face.type.element));
}

std::vector<std::unique_ptr<TimedNetwork>> started(const std::vector<Compiled>& networks,
                                                   int threads) {
  std::vector<std::unique_ptr<TimedNetwork>> running;
  for (const Compiled& network : networks) {
    running.push_back(std::make_unique<TimedNetwork>(network, threads));
    running.back()->run();
  }
  return running;
}

}  // namespace

TimedNetwork::TimedNetwork(const Compiled& compiled, int threads)
    : compiled_(compiled), runner_(compiled, threads), times_(compiled.nodes.size()) {
  for (const CompiledFace& face : compiled.inputs) {
    inputs_.emplace_back(static_cast<size_t>(bytes_of(face)));
  }
  for (const CompiledFace& face : compiled.outputs) {
    outputs_.emplace_back(static_cast<size_t>(bytes_of(face)));
  }
  for (auto& buffer : inputs_) from_.push_back(buffer.data());
  for (auto& buffer : outputs_) to_.push_back(buffer.data());
}

void TimedNetwork::run_nodes() {
  for (size_t n = 0; n < compiled_.nodes.size(); ++n) {
    const CompiledNode& node = compiled_.nodes[n];
    times_[n].add([&] {
      for (size_t i = 0; i < node.steps; ++i) runner_.run_step(node.first + i);
    });
  }
}

std::vector<NodeTime> TimedNetwork::node_times() const {
  std::vector<NodeTime> result;
  for (size_t n = 0; n < times_.size(); ++n) {
    result.push_back({compiled_.nodes[n].name, typical_times({times_[n]}).front()});
  }
  return result;
}

bool TimedNetwork::is_finite() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (compiled_.inputs[i].type.element != Element::f32) continue;
    auto* first = reinterpret_cast<float*>(inputs_[i].data());
    std::fill(first, first + inputs_[i].size() / sizeof(float), 1.0F);
  }
  run();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (compiled_.outputs[i].type.element != Element::f32) continue;
    const auto* first = reinterpret_cast<const float*>(outputs_[i].data());
    bool finite = std::all_of(first, first + outputs_[i].size() / sizeof(float),
                              [](float value) { return std::isfinite(value); });
    if (!finite) return false;
  }
  return true;
}

std::vector<double> times_of_networks(const std::vector<Compiled>& networks, int threads) {
  pin(threads);
  auto running = started(networks, threads);
  std::vector<std::function<void()>> works;
  for (auto& each : running) works.emplace_back([&each] { each->run(); });
  constexpr Turns turns{2, 5};  // two seconds for all, five times each at least
  return times_in_turn(works, turns);
}

std::vector<std::map<std::string, double>> times_of_nodes(const std::vector<Compiled>& networks,
                                                          int threads) {
  constexpr double seconds = 1.5;  // for all networks together
  constexpr size_t least = 3;      // times each: enough for a median
  pin(threads);
  auto running = started(networks, threads);
  auto begin = Clock::now();
  for (size_t round = 0;
       round < least || Clock::now() - begin < std::chrono::duration<double>(seconds); ++round) {
    for (auto& each : running) each->run_nodes();
  }
  std::vector<std::map<std::string, double>> result(networks.size());
  for (size_t n = 0; n < networks.front().nodes.size(); ++n) {
    const std::string& node = networks.front().nodes[n].name;
    std::vector<Times> of_node;
    for (size_t i = 0; i < networks.size(); ++i) {
      const auto& nodes = networks[i].nodes;
      auto at = std::find_if(nodes.begin(), nodes.end(),
                             [&](const CompiledNode& other) { return other.name == node; });
      bool has = at != nodes.end();
      of_node.push_back(has ? running[i]->all_node_times()[static_cast<size_t>(at - nodes.begin())]
                            : Times{});
    }
    std::vector<double> typical = typical_times(of_node);
    for (size_t i = 0; i < typical.size(); ++i) result[i][node] = typical[i];
  }
  return result;
}

}  // namespace lathe
