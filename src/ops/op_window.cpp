// op_window.cpp: windows that slide over an input. Interface: op_window.h.
#include "ops/op_window.h"

#include "base/error.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

/// An explicit kh or kw wins over k.
long side(const Params& p, const std::string& name) { return p[name] != 0 ? p[name] : p["k"]; }

}  // namespace

std::vector<Param> window_params(std::vector<Param> before, const std::vector<Param>& after) {
  std::vector<Param> params = std::move(before);
  params.insert(params.end(), {{"oh", std::nullopt, "output rows"},
                               {"ow", std::nullopt, "output columns"},
                               {"k", 0, "rows and columns of the kernel"},
                               {"kh", 0, "rows of the kernel, if not k"},
                               {"kw", 0, "columns of the kernel, if not k"},
                               {"stride", 1, "input rows and columns from one output to the next"},
                               {"pad", 0, "padding around the input, on each side"}});
  params.insert(params.end(), after.begin(), after.end());
  return params;
}

Window window(std::string_view op, const Params& p, long dilation) {
  check_sizes(op, p, {"oh", "ow", "stride"});
  if (dilation < 1) fail("{}: dilation must be at least 1, not {}", op, dilation);
  Window w{p["oh"], p["ow"], side(p, "kh"), side(p, "kw"), p["stride"], dilation, p["pad"], 0, 0};
  if (w.kh < 1 || w.kw < 1) fail("{}: give the kernel's size, k (or kh and kw)", op);
  w.rows = (w.oh - 1) * w.stride + (w.kh - 1) * dilation + 1;
  w.columns = (w.ow - 1) * w.stride + (w.kw - 1) * dilation + 1;
  if (w.pad < 0) fail("{}: pad must be at least 0, not {}", op, w.pad);
  if (2 * w.pad >= w.rows || 2 * w.pad >= w.columns) {
    fail("{}: pad={} leaves nothing of the {} by {} input that the windows span", op, w.pad, w.rows,
         w.columns);
  }
  return w;
}

size_t padded_input(NestBuilder& b, const Window& w, long n, long channels, double padding) {
  std::vector<long> pads{0, w.pad, w.pad};
  if (n > 0) pads.insert(pads.begin(), 0);
  std::vector<long> shape = batched_shape(n, {channels, w.rows, w.columns});
  return b.tensor("I", Role::input, shape, pads, padding);
}

std::vector<Index> under_window(const StatementBuilder& s, const Window& w, long n,
                                const Index& channel) {
  Index row = s["oh"] * w.stride + s["kh"] * w.dilation;
  Index column = s["ow"] * w.stride + s["kw"] * w.dilation;
  return batched_at(s, n, {channel, row, column});
}

}  // namespace lathe::ops
