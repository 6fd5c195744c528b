// strategy_shuffle.cpp: shuffles beside groups. Interface: strategy_shuffle.h.
#include "strategies/strategy_shuffle.h"

namespace lathe {
namespace {

/// A shuffled variant may take so many times as long as the contiguous one: times are measured, and
/// differ by chance.
constexpr double most_slower = 1.1;

/// Returns the variant of a site that does the same work in shuffled groups, if there is one.
std::optional<size_t> shuffled_twin(const StrategyInput& input, size_t site, size_t choice) {
  const LayerVariant& own = input.space.variant(site, choice);
  if (own.family != Family::grouped || own.coupling) return std::nullopt;
  const std::vector<double>& times = input.tables.times[site];
  for (size_t v = 1; v < times.size(); ++v) {
    const LayerVariant& other = input.space.variant(site, v);
    bool is_twin = other.family == Family::shuffled && !other.coupling && other.macs == own.macs &&
                   other.weights == own.weights;
    if (is_twin && times[v] <= most_slower * times[choice]) return v;
  }
  return std::nullopt;
}

}  // namespace

Assignment with_shuffles(const StrategyInput& input, const Assignment& assignment) {
  if (!input.tables.mixing) return assignment;
  const AssignmentMixing& mixing = *input.tables.mixing;
  Assignment shuffled = assignment;
  double connected = mixing.of(shuffled, &Mixing::neighbours);
  for (size_t s = 0; s < assignment.size(); ++s) {
    auto twin = shuffled_twin(input, s, assignment[s]);
    if (!twin) continue;
    Assignment with_twin = shuffled;
    with_twin[s] = *twin;
    double now = mixing.of(with_twin, &Mixing::neighbours);
    if (now <= connected) continue;
    shuffled = std::move(with_twin);
    connected = now;
  }
  return shuffled;
}

}  // namespace lathe
