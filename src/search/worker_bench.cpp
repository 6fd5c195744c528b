// worker_bench.cpp: see worker_bench.h.
#include "search/worker_bench.h"

#include "base/error.h"
#include "search/task_forms.h"

namespace lathe {

NetworkTimes WorkerBench::measure(const Graph& /*candidate*/) {
  fail("other machines measure what recipes make of the network, in f32");
}

NetworkTimes WorkerBench::measure_made(const NetworkRecipe& recipe,
                                       const std::function<Graph()>& /*candidate*/) {
  std::string text = print(recipe);
  if (auto known = known_.find(text); known != known_.end()) return known->second;
  bool is_asked = std::any_of(asked_.begin(), asked_.end(),
                              [&](const auto& each) { return each.second == text; });
  if (!is_asked) asked_[pool_.ask({{"do", "measure"}, {"recipe", text}})] = text;
  if (is_together_) throw JobsWait();
  while (!known_.contains(text)) {
    if (!wait(stop_)) stopped_();
  }
  return known_.at(text);
}

bool WorkerBench::wait(const std::function<bool()>& stop) {
  auto answer = pool_.next(stop);
  if (!answer) return false;
  auto asked = asked_.find(answer->id);
  if (asked == asked_.end()) return true;
  NetworkTimes times;
  if (answer->failure.empty()) {
    times = times_from_json(answer->result);
  } else {
    times.failure = answer->failure;
  }
  known_[asked->second] = std::move(times);
  asked_.erase(asked);
  return true;
}

bool WorkerBench::together(const std::function<bool()>& work) {
  is_together_ = true;
  bool done = false;
  try {
    while (true) {
      try {
        done = work();
        break;
      } catch (const JobsWait&) {
        // It stops by itself, once it is called again.
        wait(stop_);
      }
    }
  } catch (...) {
    is_together_ = false;
    throw;
  }
  is_together_ = false;
  std::set<long> left;
  for (const auto& [id, recipe] : asked_) left.insert(id);
  pool_.forget(left);
  asked_.clear();
  return done;
}

}  // namespace lathe
