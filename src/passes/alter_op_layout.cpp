// alter_op_layout.cpp: channels lie side by side in blocks where all users can read that.
//
//   conv -> relu -> conv        the values between have 64 channels side by side (NCHWc)
//
// Convolutions and windows read and write vectors of channels; element-wise work takes any layout.
// Values that share their channels (in a residual sum or a concatenation) have the same blocks, the
// largest that fit them all: a convolution then reads what it sums up from few places. Other users
// of a value, such as a reshape, want it row-major. A network's inputs and outputs are row-major;
// an input that convolutions read (other than depthwise ones) is copied once, first.
//
// A network that was not tuned gets these blocks; tuning may choose others (pass_layout.h).
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_layout.h"

namespace lathe::passes {
namespace {

Graph run_alter_op_layout(const Graph& graph, const PassContext& context) {
  Layouts layouts = layouts_of(graph, context.vector_bytes);
  auto tuned = context.layouts ? context.layouts(layout_key(graph)) : std::nullopt;
  LayoutChoice own = own_choice(layouts);
  if (context.usual == PassContext::Usual::plain) {
    std::fill(own.blocks.begin(), own.blocks.end(), 1);
  }
  return with_layouts(layouts, tuned && fits(layouts, *tuned) ? *tuned : own);
}

}  // namespace

Pass alter_op_layout() {
  return {"AlterOpLayout", "store channels in blocks where all users like it", run_alter_op_layout,
          Pass::Stage::storage};
}

}  // namespace lathe::passes
