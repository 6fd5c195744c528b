// Windows that slide over an input, in any number of dimensions: what convolutions and pools share.
//
//   output (oh, ow) and kernel element (kh, kw) meet at
//   I[channel, stride*oh + dilation*kh, stride*ow + dilation*kw]
//
// The input is stored with its padding.
#pragma once

#include <string_view>
#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

/// One dimension that a window slides along.
struct Slide {
  std::string output, kernel;  ///< names of the loops: oh, kh
  long outputs, elements;      ///< extents of these loops
  long stride, dilation;
  long inputs;  ///< extent of the input without padding
  Pad pad;      ///< all that windows touch, or more
  long asked;   ///< the padding after the input that was asked for

  /// Returns the extent of the input as it is stored.
  long stored() const { return inputs + pad.before + pad.after; }
};
using Window = std::vector<Slide>;

/// Returns the sizes of an operator with a window: "before", those of window(), "after".
std::vector<Param> window_params(std::vector<Param> before, const std::vector<Param>& after);

/// Reads the window of operator "op" from its sizes and checks it.
Window window(std::string_view op, const Params& p, long dilation = 1);

/// Returns the settings of an operator with a window in a graph: strides, dilations, pads, "more".
std::vector<Setting> window_settings(const std::vector<Setting>& more);

/// The largest extent or number of a window: products of them do not overflow.
constexpr long most_in_window = 1L << 30;

/// Returns one of the lists of window_settings(): a number for each of "count" places, at least
/// "least".
Shape window_list(const Call& call, const std::string& name, size_t count, long least);

/// Are windows that reach beyond the end of the padded input left out (down), or padded (up)?
enum class Rounding { down, up };

/// Reads the window of a call from its attributes: operand 0 is the input, [n, c, ...], and
/// "kernel" the extents of the kernel.
Window window(const Call& call, const Shape& kernel, Rounding rounding = Rounding::down);

/// Returns the extents of the output, or of the kernel.
Shape outputs(const Window& w);
Shape elements(const Window& w);

/// Returns the loops over the output, or over the kernel.
StatementBuilder::Extents output_loops(const Window& w);
StatementBuilder::Extents kernel_loops(const Window& w);

/// Declares the input I; "padding" is what its padding holds.
size_t padded_input(NestBuilder& b, const Window& w, long n, long channels, double padding = 0,
                    Element element = Element::f32);

/// Returns where the output and the kernel element of an instance meet in the input.
std::vector<Index> under_window(const StatementBuilder& s, const Window& w, long n,
                                const Index& channel);

/// Puts lists one after the other: loops, indices, extents.
template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace lathe::ops
