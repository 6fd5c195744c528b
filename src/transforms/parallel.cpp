// parallel.cpp: the iterations of a loop are shared out among threads.
//
//   parallel(i):   for i: S(i)  ->  parallel for i: S(i)
#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

Applied as_threads(const Nest& nest, const Arguments& args) {
  return {marked(nest, args.name(0), Mark::parallel), ""};
}

std::vector<Step> candidates_of_parallel(const Nest& nest) {
  return for_each_loop(nest, "parallel", [](const Loop& loop) {
    return loop.mark == Mark::serial && loop.extent > 1;
  });
}

}  // namespace

Transform parallel() {
  return {"parallel", Transform::Kind::program, {{Takes::loop}}, "for i: S  ->  parallel for i: S",
          as_threads, candidates_of_parallel};
}

}  // namespace lathe::transforms
