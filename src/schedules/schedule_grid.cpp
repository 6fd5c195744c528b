// schedule_grid.cpp: loops become blocks. Interface: schedule_grid.h.
#include "schedules/schedule_grid.h"

namespace lathe::schedules {

void bind_blocks(RecipeWriter& writer, const std::string& prefix, std::vector<std::string> loops) {
  constexpr const char* axes[] = {"block.x", "block.y", "block.z"};
  while (loops.size() > std::size(axes)) {
    std::string one = loops[0] + "_" + loops[1];
    writer.step("fuse", {prefix + loops[0], prefix + loops[1], one});
    loops.erase(loops.begin());
    loops[0] = one;
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    writer.step("bind", {prefix + loops[loops.size() - 1 - i], axes[i]});
  }
}

long greatest_divisor(long n, long most) {
  for (long d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

}  // namespace lathe::schedules
