// keep.cpp: keeps the first n iterations of the outermost loop.
//
//   keep(48):   for co < 64: S(co)  ->  for co < 48: S(co)        fewer filters
//               for ci < 64: S(ci)  ->  for ci < 48: S(ci)        fewer inputs are read
//
// This is bottleneck for any number of channels; it need not divide those that there were. The
// second argument completes what is no longer written or read, as for bottleneck. Positions have no
// first ones that stand for the others: there, bottleneck keeps every B-th.
#include "transforms/transform_outermost.h"

namespace lathe::transforms {
namespace {

/// Layers are fast whose channels are a multiple of this: the elements of a vector, or of two.
constexpr long step_of_channels = 8;

Applied keep_first(const Nest& nest, const Arguments& args) {
  NeuralTarget target = take_target(nest);
  const Loop& loop = target.order.loops.front();
  require_network_loop(loop);
  long left = args.number(0);
  if (counts_positions(nest, target)) {
    fail(
        "loop '{}' counts positions, of which keep would leave one side alone; use bottleneck, "
        "which keeps every n-th",
        loop.name);
  }
  if (left >= loop.extent) {
    fail("loop '{}' has {} iterations; keep fewer", loop.name, loop.extent);
  }
  return keep_outermost(nest, target, {0, left, 1}, args.has(1) ? args.name(1) : "");
}

/// Returns the multiples of 8 below the extent; half of it if there is none.
std::vector<long> usual_numbers(long extent) {
  std::vector<long> numbers;
  for (long left = step_of_channels; left < extent; left += step_of_channels) {
    numbers.push_back(left);
  }
  if (numbers.empty() && extent % 2 == 0) numbers.push_back(extent / 2);
  return numbers;
}

std::vector<Step> candidates_of_keep(const Nest& nest) {
  auto target = try_take_target(nest);
  if (!target) return {};
  const Loop& loop = target->order.loops.front();
  if (loop.name == batch_loop || counts_positions(nest, *target)) return {};
  std::vector<long> numbers = usual_numbers(loop.extent);
  if (numbers.empty()) return {};
  auto completed = [&](long left) { return completed_steps(nest, *target, {"keep", {left}}); };
  // What applies to the fewest and to the most applies to all between: of a loop that comes several
  // times to each element, the most may leave nothing to complete.
  std::vector<Step> fewest = completed(numbers.front()), most = completed(numbers.back()), steps;
  for (Step& step : most) step.args.front() = numbers.front();
  bool alike = fewest == most;
  for (long left : numbers) {
    for (Step step : alike ? fewest : completed(left)) {
      step.args.front() = left;
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace

Transform keep() {
  return {"keep",
          Transform::Kind::neural,
          {{Takes::count}, {Takes::completion, true}},
          "for i < N: S(i)  ->  for i < n: S(i)",
          keep_first,
          candidates_of_keep};
}

}  // namespace lathe::transforms
