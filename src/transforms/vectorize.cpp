// vectorize.cpp: the iterations of a loop become the lanes of vector instructions.
//
//   vectorize(i):   for i < 16: S(i)  ->  vector for i < 16: S(i)
//
// On a loop that sums, the lanes are added at the end: the sum is re-associated.
#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

Applied as_lanes(const Nest& nest, const Arguments& args) {
  return {marked(nest, args.name(0), Mark::vector), ""};
}

std::vector<Step> candidates_of_vectorize(const Nest& nest) {
  return for_each_loop(nest, "vectorize", [](const Loop& loop) {
    return loop.mark == Mark::serial && loop.extent <= 64;
  });
}

}  // namespace

Transform vectorize() {
  return {"vectorize", Transform::Kind::program, {{Takes::loop}}, "for i: S  ->  vector for i: S",
          as_lanes,    candidates_of_vectorize};
}

}  // namespace lathe::transforms
