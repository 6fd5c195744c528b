// unroll.cpp: writes the iterations of a loop out.
//
//   unroll(i):       for i < 3: S(i)  ->  S(0); S(1); S(2)
//   unroll(i, 16):   for i < N: S(i)  ->  S(0); ... S(15);  for i.1 < N-16: S(i.1 + 16)
//
// With a count, the first iterations are written out and the rest stays a loop: neural steps act on
// that loop, and the first iterations stay as they are.
#include "transforms/transform_range.h"

namespace lathe::transforms {
namespace {

Applied write_out(const Nest& nest, const Arguments& args) {
  if (!args.has(1)) return {marked(nest, args.name(0), Mark::unrolled), ""};
  Nest cut = cut_range(nest, args.name(0), args.number(1));
  size_t colon = args.name(0).find(':');
  std::string loop = colon == std::string::npos ? args.name(0) : args.name(0).substr(colon + 1);
  return {marked(cut, loop + ".0", Mark::unrolled), ""};
}

std::vector<Step> candidates_of_unroll(const Nest& nest) {
  std::vector<Step> steps = for_each_loop(nest, "unroll", [](const Loop& loop) {
    return loop.mark == Mark::serial && loop.extent <= 16;
  });
  for (const std::string& name : loop_names(nest)) {
    if (least_extent(nest, name) > 16) steps.push_back({"unroll", {name, 16L}});
  }
  return steps;
}

}  // namespace

Transform unroll() {
  return {"unroll",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::count, true}},
          "for i < 3: S(i)  ->  S(0); S(1); S(2)",
          write_out,
          candidates_of_unroll};
}

}  // namespace lathe::transforms
