// alter_op_layout.cpp: channels lie together in blocks wherever all users of a value like it.
//
//   conv -> relu -> conv        the values between have 64 channels side by side (NCHWc)
//
// Convolutions and windows read and write vectors of channels; element-wise work takes any layout.
// Values whose channels are the same ones (of a residual sum, a concatenation) have the same
// blocks, as large as fits them all: what a convolution sums up then comes from few places. What
// else reads a value, a reshape say, wants it row-major. A network's inputs and outputs are
// row-major: an input that convolutions read, other than depthwise, is first copied, once.
//
// This is what a network gets that nobody measured; tuning chooses other blocks (pass_layout.h).
#include "passes/pass.h"
#include "passes/pass_layout.h"

namespace lathe::passes {
namespace {

Graph run_alter_op_layout(const Graph& graph) {
  Layouts layouts = layouts_of(graph);
  return with_layouts(layouts, own_choice(layouts));
}

}  // namespace

Pass alter_op_layout() {
  return {"alter_op_layout", "stores channels in blocks where all users like it",
          run_alter_op_layout};
}

}  // namespace lathe::passes
