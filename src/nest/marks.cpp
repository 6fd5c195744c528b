// marks.cpp: marks of loops. Interface: marks.h.
#include "nest/marks.h"

namespace lathe {

bool is_for_gpu(Mark mark) {
  switch (mark) {
    case Mark::serial:
    case Mark::parallel:
    case Mark::unrolled:
    case Mark::vector:
      return false;
    default:
      return true;
  }
}

const Loop* find_gpu_loop(const Nest& nest) {
  for (const Order& order : nest.order) {
    for (const Loop& loop : order.loops) {
      if (is_for_gpu(loop.mark)) return &loop;
    }
  }
  return nullptr;
}

}  // namespace lathe
