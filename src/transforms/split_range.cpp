// split_range.cpp: cuts a loop's range in two, so that each part is open to its own steps.
//
//   split_range(i, 1/2):   for i < N: S(i)  ->  for i.0 < N/2: S.0(i.0);  for i.1 < N/2: S.1(i.1 +
//   N/2)
//
// The second argument is a part of the iterations, or their number: split_range(i, 16).
#include "transforms/transform_range.h"

namespace lathe::transforms {
namespace {

long iterations_in(const Arg& part, long extent, const std::string& loop) {
  if (auto* number = std::get_if<long>(&part)) return *number;
  Fraction f = std::get<Fraction>(part);
  if (f.numerator < 1 || f.numerator >= f.denominator) {
    fail("the part must be between 0 and 1, like 1/2");
  }
  if (extent * f.numerator % f.denominator != 0) {
    fail("{} of the {} iterations of loop '{}' is no whole number", print(part), extent, loop);
  }
  return extent * f.numerator / f.denominator;
}

Applied cut(const Nest& nest, const Arguments& args) {
  LoopRef first = resolve(nest, args.name(0)).front();
  long extent = nest.order[first.statement].loops[first.depth].extent;
  return {cut_range(nest, args.name(0), iterations_in(args.any(1), extent, args.name(0))), ""};
}

std::vector<Step> candidates_of_split_range(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& name : loop_names(nest)) {
    LoopRef first = resolve(nest, name).front();
    long extent = nest.order[first.statement].loops[first.depth].extent;
    bool halves = extent >= 4 && extent % 2 == 0 && extent / 2 < least_extent(nest, name);
    if (halves) steps.push_back({"split_range", {name, Fraction{1, 2}}});
  }
  return steps;
}

}  // namespace

Transform split_range() {
  return {"split_range",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::part}},
          "for i < N: S(i)  ->  for i.0 < c: S.0(i.0); for i.1 < N-c: S.1(c + i.1)",
          cut,
          candidates_of_split_range};
}

}  // namespace lathe::transforms
