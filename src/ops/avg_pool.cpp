// avg_pool.cpp: the mean of the values under a window.
//
//   S[c, oh, ow] += I[c, s*oh + kh, s*ow + kw];  O[c, oh, ow] = S[c, oh, ow] / (Kh*Kw)
//
// When the padding does not count, the divisor is the part of the window that covers the input:
//
//   rows[oh] += 1  for 0 <= ih - (s*oh - pad) < Kh;  columns[ow] alike;  O = S / (rows * columns)
#include <algorithm>

#include "ops/op_dims.h"
#include "ops/op_pool.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

/// The part of a stored dimension whose elements count: from "first" to before "end".
struct Counted {
  long first, end;
};

Counted counted(const Slide& s, bool count_pad) {
  if (count_pad) return {0, s.inputs + s.pad.before + s.asked};
  return {s.pad.before, s.pad.before + s.inputs};
}

/// Returns the part of "all" that windows touch at all. Windows are looked at from either end, as
/// long as they can reach further than those before.
Counted touched(const Slide& s, Counted all) {
  Counted result{all.end, all.first};
  for (long o = 0; o < s.outputs && o * s.stride < result.first; ++o) {
    long skipped = std::max(0L, all.first - o * s.stride + s.dilation - 1) / s.dilation;
    long at = o * s.stride + skipped * s.dilation;
    if (skipped < s.elements && at < all.end) result.first = std::min(result.first, at);
  }
  long reach = (s.elements - 1) * s.dilation;
  for (long o = s.outputs - 1; o >= 0 && o * s.stride + reach >= result.end; --o) {
    if (o * s.stride >= all.end) continue;
    long last = std::min(s.elements - 1, (all.end - 1 - o * s.stride) / s.dilation);
    long at = o * s.stride + last * s.dilation;
    if (at >= all.first) result.end = std::max(result.end, at + 1);
  }
  return result;
}

/// Does every element under a window count?
bool counts_all(const Slide& s, Counted all) { return all.first <= 0 && all.end >= s.stored(); }

/// Counts for each output the elements under its window. The loop counts elements of the input, not
/// of the kernel: the first ones may lie in the padding of every window.
size_t count_covered(NestBuilder& b, const Slide& slide, Counted all) {
  Counted part = touched(slide, all);
  std::string loop = "i" + slide.output.substr(1);
  size_t counts = b.tensor("n_" + slide.output, Role::local, {slide.outputs});
  auto& s = b.statement("count_" + slide.output,
                        {{slide.output, slide.outputs}, {loop, part.end - part.first}});
  Index in_window = s[loop] + part.first + s[slide.output] * -slide.stride;
  s.where_not_negative(in_window);
  s.where_less(in_window, (slide.elements - 1) * slide.dilation + 1);
  if (slide.dilation > 1) s.where_less(in_window % slide.dilation, 1);
  s.add(counts, {s[slide.output]}, number(1));
  return counts;
}

Nest nest_of_avg_pool(isl::ctx ctx, const Pool& p, bool count_pad) {
  NestBuilder b(ctx, "avg_pool");
  StatementBuilder::Extents loops = pool_loops(p);
  size_t I = padded_input(b, p.window, p.n, p.c, 0, p.element);
  size_t S = b.tensor("S", Role::local, pool_shape(p), p.element);
  size_t O = b.tensor("O", Role::output, pool_shape(p), p.element);
  auto& sum = b.statement("sum", joined(loops, kernel_loops(p.window)));
  sum.add(S, at(sum, loops), sum.read(I, under_window(sum, p.window, p.n, sum["c"])));

  double constant = 1;
  std::vector<std::pair<size_t, std::string>> counts;
  for (const Slide& slide : p.window) {
    Counted all = counted(slide, count_pad);
    if (counts_all(slide, all)) {
      constant *= static_cast<double>(slide.elements);
    } else {
      counts.emplace_back(count_covered(b, slide, all), slide.output);
    }
  }
  auto& s = b.statement("divide", loops);
  Expr total = s.read(S, at(s, loops));
  Expr divisor = number(constant);
  for (const auto& [tensor, loop] : counts) {
    Expr count = s.read(tensor, {s[loop]});
    bool first = divisor.op == Expr::Op::number && divisor.number == 1;
    divisor = first ? count : divisor * count;
  }
  s.assign(O, at(s, loops), total / divisor);
  return b.build();
}

}  // namespace

Op avg_pool() {
  return {"avg_pool",
          "mean of the values under a sliding window",
          window_params({batch_param(), {"c", std::nullopt, "channels"}},
                        {{"count_pad", 0, "1: the padding counts as zeros; 0: it does not count"}}),
          [](isl::ctx ctx, const Params& p) {
            return nest_of_avg_pool(ctx, pool("avg_pool", p), is_set("avg_pool", p, "count_pad"));
          },
          {"avg_pool(c=3, oh=4, ow=3, k=2, stride=2)",
           "avg_pool(n=2, c=2, oh=3, ow=4, k=3, stride=2, pad=1)",
           "avg_pool(c=2, oh=4, ow=4, kh=3, kw=2, pad=1, count_pad=1)",
           "avg_pool(f32[1x2x6x6], kernel=[3, 3], pads=[1, 0, 1, 1], strides=[2, 2], ceil=1)"},
          pool_signature({{"count_pad", 0L, "1: the padding counts as zeros"}},
                         [](isl::ctx ctx, const Call& call) {
                           return nest_of_avg_pool(ctx, pool(call), call.flag("count_pad"));
                         })};
}

}  // namespace lathe::ops
