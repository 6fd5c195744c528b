// prefetch.cpp: prefetches of a loop. Interface: prefetch.h.
#include "codegen/prefetch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lathe {

void write_prefetches(const LoopNode& loop, const Bindings& bindings, const Nest& nest, Code& code,
                      CodeWriter& writer) {
  for (const Prefetch& p : loop.prefetches) {
    std::set<std::pair<std::vector<long>, long>> lines;
    long line = cache_line / std::max(1L, size_of(code.tensors[p.tensor].element));
    for (const Touch& touch : touches_of(loop.body, bindings, nest)) {
      if (touch.tensor != p.tensor || !touch.offset.is_linear()) continue;
      poly::Affine at = touch.offset;
      for (size_t i = loop.depth + 1; i < at.coefficients.size(); ++i) at.coefficients[i] = 0;
      at.constant += at.coefficients[loop.depth] * p.distance;
      if (!lines.insert({at.coefficients, at.constant / line}).second) continue;
      Instruction instruction{Instruction::Kind::prefetch};
      instruction.tensor = p.tensor;
      instruction.offset = at;
      code.used[p.tensor] = true;
      writer.put(std::move(instruction));
    }
  }
}

}  // namespace lathe
