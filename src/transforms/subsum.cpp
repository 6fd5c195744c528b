// subsum.cpp: adds up the products of a loop's body on their own, in a narrower type.
//
//   subsum(i, f16):   for i: for j: S += W[i, j] * I[i, j]
//                 ->  for i: { P[i] = 0;  for j: P[i] += W[i, j] * I[i, j];  S += P[i] }
//
// P is of f16, and so is the arithmetic on it, of which a processor does twice as much in a cycle.
// Its sums are short, so they lose little; S stays as it was.
#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_sums.h"
#include "transforms/transform_toom.h"

namespace lathe::transforms {
namespace {

Applied take_apart(const Nest& nest, const Arguments& args) {
  Element element = *element_named(args.name(1));
  PartialSums sums = with_sums_apart(nest, args.name(0), element, Total::inside);
  double error = expected_error_of_sum(sums.products, unit_of(element));
  std::string note = fmt::format(
      "{} products at a time are added up in {}; the error stays below {:.1e} of the outputs' root "
      "mean square, for data without structure",
      sums.products, args.name(1), error);
  return {std::move(sums.nest), note, error};
}

std::vector<Step> candidates_of_subsum(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& loop : loop_names(nest)) {
    Step step{"subsum", {loop, std::string("f16")}};
    if (applies(nest, step)) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Transform subsum() {
  return {"subsum",
          Transform::Kind::algebraic,
          {{Takes::loop}, {Takes::element}},
          "for i: for j: S += x  ->  for i: { P[i] = 0; for j: P[i] += x; S += P[i] }",
          take_apart,
          candidates_of_subsum};
}

}  // namespace lathe::transforms
