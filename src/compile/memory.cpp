// memory.cpp: the arena. Interface: memory.h.
//
// Buffers are placed one after the other, each in the lowest gap between those already placed that
// are alive at the same time. Which order of placing packs best differs: several are tried.
#include "compile/memory.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include "base/random.h"
#include "codegen/target.h"

namespace lathe {
namespace {

long rounded(long bytes) { return rounded_to_lines(std::max(bytes, 1L)); }

/// For each buffer, those that are in use at the same time.
using Neighbours = std::vector<std::vector<uint32_t>>;

Neighbours neighbours_of(const std::vector<Lifetime>& buffers) {
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return buffers[a].first < buffers[b].first; });
  Neighbours result(buffers.size());
  for (size_t i = 0; i < order.size(); ++i) {
    uint32_t a = order[i];
    for (size_t j = i + 1; j < order.size(); ++j) {
      uint32_t b = order[j];
      if (buffers[b].first > buffers[a].last) break;  // as do all behind it
      result[a].push_back(b);
      result[b].push_back(a);
    }
  }
  return result;
}

/// Places the buffers in this order.
MemoryPlan placed(const std::vector<Lifetime>& buffers, const Neighbours& neighbours,
                  const std::vector<size_t>& order) {
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), -1);
  std::vector<std::pair<long, long>> taken;  // from, to
  for (size_t b : order) {
    taken.clear();
    for (uint32_t other : neighbours[b]) {
      if (plan.offsets[other] < 0) continue;
      taken.emplace_back(plan.offsets[other], plan.offsets[other] + rounded(buffers[other].bytes));
    }
    std::sort(taken.begin(), taken.end());
    long at = 0, bytes = rounded(buffers[b].bytes), best = -1, best_gap = 0;
    for (const auto& [from, to] : taken) {
      long gap = from - at;
      if (gap >= bytes && (best < 0 || gap < best_gap)) {
        best = at;
        best_gap = gap;
      }
      at = std::max(at, to);
    }
    plan.offsets[b] = best < 0 ? at : best;
    plan.bytes = std::max(plan.bytes, plan.offsets[b] + bytes);
  }
  return plan;
}

/// Returns the most that is in use at one time.
long most_live(const std::vector<Lifetime>& buffers) {
  std::map<size_t, long> change;  // of what is in use, at each step
  for (const Lifetime& b : buffers) {
    change[b.first] += rounded(b.bytes);
    change[b.last + 1] -= rounded(b.bytes);
  }
  long live = 0, most = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  auto length = [&](size_t i) { return buffers[i].last - buffers[i].first; };
  auto size = [&](size_t i) { return buffers[i].bytes; };
  auto first = [&](size_t i) { return buffers[i].first; };

  Neighbours neighbours = neighbours_of(buffers);
  MemoryPlan best = placed(buffers, neighbours, order);
  std::vector<size_t> best_order = order;
  auto consider = [&](const std::vector<size_t>& trial) {
    MemoryPlan plan = placed(buffers, neighbours, trial);
    if (plan.bytes > best.bytes) return;
    best = plan;
    best_order = trial;
  };
  auto try_order = [&](auto before) {
    std::stable_sort(order.begin(), order.end(), before);
    consider(order);
  };
  try_order([&](size_t a, size_t b) { return size(a) > size(b); });
  try_order([&](size_t a, size_t b) { return length(a) > length(b); });
  try_order([&](size_t a, size_t b) {
    return static_cast<double>(size(a)) * static_cast<double>(length(a) + 1) >
           static_cast<double>(size(b)) * static_cast<double>(length(b) + 1);
  });
  try_order([&](size_t a, size_t b) { return first(a) < first(b); });

  // Where much is lost, two that change places in the order may help.
  long live = most_live(buffers);
  Random random(1, "memory");
  constexpr int most_tries = 5000;  // some tens of milliseconds
  constexpr long little = 20;       // a twentieth more than is alive is good enough
  for (int tries = 0; tries < most_tries && best.bytes > live + live / little; ++tries) {
    std::vector<size_t> trial = best_order;
    std::swap(trial[random.below(trial.size())], trial[random.below(trial.size())]);
    consider(trial);
  }
  best.live = live;
  return best;
}

}  // namespace lathe
