// marks.cpp: marks of loops. Interface: marks.h.
#include "nest/marks.h"

namespace lathe {
namespace {

template <class Test>
const Loop* first_loop(const Nest& nest, Test test) {
  for (const Order& order : nest.order) {
    for (const Loop& loop : order.loops) {
      if (test(loop.mark)) return &loop;
    }
  }
  return nullptr;
}

}  // namespace

bool is_block(Mark mark) {
  return mark == Mark::block_x || mark == Mark::block_y || mark == Mark::block_z;
}

bool is_thread(Mark mark) {
  return mark == Mark::thread_x || mark == Mark::thread_y || mark == Mark::thread_z;
}

bool is_axis(Mark mark) { return is_block(mark) || is_thread(mark); }

bool is_for_gpu(Mark mark) { return is_axis(mark) || mark == Mark::vthread; }

const std::vector<Mark>& grid_axes() {
  static const std::vector<Mark> axes = {Mark::block_z,  Mark::block_y,  Mark::block_x,
                                         Mark::thread_z, Mark::thread_y, Mark::thread_x};
  return axes;
}

const Loop* find_gpu_loop(const Nest& nest) { return first_loop(nest, is_for_gpu); }

const Loop* find_axis(const Nest& nest) { return first_loop(nest, is_axis); }

}  // namespace lathe
