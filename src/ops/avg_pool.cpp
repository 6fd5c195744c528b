// avg_pool.cpp: the mean of the values under a window.
//
//   S[c, oh, ow] += I[c, s*oh + kh, s*ow + kw];  O[c, oh, ow] = S[c, oh, ow] / (Kh*Kw)
//
// When the padding does not count, the divisor is the part of the window that covers the input:
//
//   rows[oh] += 1  for 0 <= ih - (s*oh - pad) < Kh;  columns[ow] alike;  O = S / (rows * columns)
#include "base/error.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

/// One side of the window: the loops and sizes of rows, or of columns.
struct Side {
  std::string tensor, output, input;
  long outputs, inputs, kernel;
};

/// Counts for each output the input rows (or columns) under its window. The loop counts them, not
/// the rows of the kernel: the first ones may lie in the padding of every window.
size_t count_covered(NestBuilder& b, const Window& w, const Side& side) {
  size_t counts = b.tensor(side.tensor, Role::local, {side.outputs});
  auto& s =
      b.statement("count_" + side.tensor, {{side.output, side.outputs}, {side.input, side.inputs}});
  Index in_window = s[side.input] + w.pad + s[side.output] * -w.stride;
  s.where_not_negative(in_window);
  s.where_less(in_window, side.kernel);
  s.add(counts, {s[side.output]}, number(1));
  return counts;
}

Nest nest(isl::ctx ctx, const Params& p) {
  check_sizes("avg_pool", p, {"c"});
  long n = p["n"], c = p["c"];
  Window w = window("avg_pool", p);
  if (w.pad >= w.kh || w.pad >= w.kw) {
    fail("avg_pool: pad={} must be less than the kernel's {} by {}", w.pad, w.kh, w.kw);
  }
  NestBuilder b(ctx, "avg_pool");
  StatementBuilder::Extents outputs = batched_loops(n, {{"c", c}, {"oh", w.oh}, {"ow", w.ow}});
  StatementBuilder::Extents all = outputs;
  all.insert(all.end(), {{"kh", w.kh}, {"kw", w.kw}});
  auto output_at = [&](const StatementBuilder& s) {
    return batched_at(s, n, {s["c"], s["oh"], s["ow"]});
  };

  size_t I = padded_input(b, w, n, c);
  size_t S = b.tensor("S", Role::local, batched_shape(n, {c, w.oh, w.ow}));
  size_t O = b.tensor("O", Role::output, batched_shape(n, {c, w.oh, w.ow}));
  auto& sum = b.statement("sum", all);
  sum.add(S, output_at(sum), sum.read(I, under_window(sum, w, n, sum["c"])));
  if (is_set("avg_pool", p, "count_pad") || w.pad == 0) {
    auto& s = b.statement("divide", outputs);
    s.assign(O, output_at(s), s.read(S, output_at(s)) / number(static_cast<double>(w.kh * w.kw)));
  } else {
    size_t rows = count_covered(b, w, {"rows", "oh", "ih", w.oh, w.rows - 2 * w.pad, w.kh});
    size_t columns =
        count_covered(b, w, {"columns", "ow", "iw", w.ow, w.columns - 2 * w.pad, w.kw});
    auto& s = b.statement("divide", outputs);
    Expr total = s.read(S, output_at(s));
    Expr high = s.read(rows, {s["oh"]}), wide = s.read(columns, {s["ow"]});
    s.assign(O, output_at(s), total / (high * wide));
  }
  return b.build();
}

}  // namespace

Op avg_pool() {
  return {"avg_pool",
          "mean of the values under a sliding window",
          window_params({batch_param(), {"c", std::nullopt, "channels"}},
                        {{"count_pad", 0, "1: the padding counts as zeros; 0: it does not count"}}),
          nest,
          {"avg_pool(c=3, oh=4, ow=3, k=2, stride=2)",
           "avg_pool(n=2, c=2, oh=3, ow=4, k=3, stride=2, pad=1)",
           "avg_pool(c=2, oh=4, ow=4, kh=3, kw=2, pad=1, count_pad=1)"}};
}

}  // namespace lathe::ops
