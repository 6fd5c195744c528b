// rfactor.cpp: cuts a sum into parts that can be added up at the same time.
//
//   rfactor(i):   for i: for j: S += W[i, j] * I[i, j]
//             ->  for i: { P[i] = 0;  for j: P[i] += W[i, j] * I[i, j];  Q[i] = P[i] }
//                 for i: S += Q[i]
//
// The iterations of the first loop i are independent: threads share them, and hand Q on. Only the
// short sum behind it is left to one of them.
#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_sums.h"
#include "transforms/transform_toom.h"

namespace lathe::transforms {
namespace {

Applied cut(const Nest& nest, const Arguments& args) {
  PartialSums sums = with_sums_apart(nest, args.name(0), std::nullopt, Total::after);
  // Whatever the order, a sum rounds about as much: the error is that of f32.
  double error = expected_error_of_sum(sums.products, unit_of(Element::f32));
  std::string note = fmt::format(
      "{} products at a time are added up on their own; the sum rounds otherwise, by about {:.1e} "
      "of the outputs' root mean square",
      sums.products, error);
  return {std::move(sums.nest), note, error};
}

std::vector<Step> candidates_of_rfactor(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& loop : loop_names(nest)) {
    Step step{"rfactor", {loop}};
    if (applies(nest, step)) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Transform rfactor() {
  return {"rfactor",
          Transform::Kind::algebraic,
          {{Takes::loop}},
          "for i: for j: S += x  ->  for i: { P = 0; for j: P += x; Q[i] = P }; for i: S += Q[i]",
          cut,
          candidates_of_rfactor};
}

}  // namespace lathe::transforms
