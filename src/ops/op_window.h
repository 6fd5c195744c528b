// Windows that slide over an input: what convolutions and pools share.
//
//   output (oh, ow) and kernel element (kh, kw) meet at
//   I[channel, stride*oh + dilation*kh, stride*ow + dilation*kw]
//
// The input is stored with its padding, and has just the rows and columns that windows span.
#pragma once

#include <string_view>
#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

struct Window {
  long oh, ow;  ///< rows and columns of the output
  long kh, kw;  ///< rows and columns of the kernel
  long stride, dilation, pad;
  long rows, columns;  ///< of the input as it is stored
};

/// Returns the parameters of an operator with a window: "before", those of window(), "after".
std::vector<Param> window_params(std::vector<Param> before, const std::vector<Param>& after);

/// Reads the window of operator "op" from its parameters and checks it.
Window window(std::string_view op, const Params& p, long dilation = 1);

/// Declares the input I; "padding" is what its padding holds.
size_t padded_input(NestBuilder& b, const Window& w, long n, long channels, double padding = 0);

/// Returns where the output and the kernel element of an instance meet in the input.
std::vector<Index> under_window(const StatementBuilder& s, const Window& w, long n,
                                const Index& channel);

}  // namespace lathe::ops
