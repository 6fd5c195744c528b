// A kernel as vector code. Unrolled loops and vector loops are written out; the others are still
// loops. A backend turns the code into its own language, instruction by instruction.
//
//   v3 = number 0                            16 lanes
//   for ci.o < 4:
//     v4 = load W + 2304*co.o + 16*ci.o      16 lanes
//     v5 = load I + ci.o                     4 lanes
//     v3 = v4 * lane 0 of v5 + v3
//   store v3 at O + 16*co.o
//
// A variable may be set several times: one that holds a part of a register tile is set again in
// each iteration that adds to it.
#pragma once

#include "codegen/loops.h"
#include "codegen/target.h"

namespace lathe {

/// The type that a variable is computed in; loads and stores convert other types. It is f32, f64,
/// i32, i64, or f16 where the target has arithmetic for it. Variables of i8, u8, bf16 and tf32 hold
/// factors of dot products and of products of matrices.
using Number = Element;

/// Returns the extra of a target without which nothing computes with this type, if there is one.
std::optional<Extra> extra_of(Number number);

struct Instruction;
using Block = std::vector<Instruction>;

struct Instruction {
  enum class Kind {
    loop,      ///< runs "body" for each from <= coordinate "depth" < end
    guard,     ///< runs "body" where "guard" holds
    load,      ///< to = lanes elements of "tensor" at "offset", "stride" apart; "picked" moves it;
               ///< where "guard" does not hold, any numbers. A panel has rows, "row_stride" apart.
    store,     ///< writes args[0] there
    prefetch,  ///< asks for the element there
    number,    ///< to = "number", in every lane of every row
    apply,     ///< to = op(args...); an operand of one lane stands for as many as the others have
    fma,       ///< to = args[0] * args[1] + args[2]
    dot,       ///< to = args[2] + sums of products: each lane of its own neighbours in args[0] by
               ///< the group "lane" of args[1], which has as many and is the same for all lanes
    matrix,    ///< to = args[3], ..., args[6] + what a warp adds to these sums of a thread: the
               ///< product of matrices whose rows are args[0] and args[1], and whose columns are
               ///< args[2] (matrices.h)
    panels,    ///< to = args[2] + args[0] times args[1], which are panels (panels.h)
    splat,     ///< to = lane "lane" of args[0], in every lane
    copy,      ///< to = args[0]
    convert,   ///< to = args[0], in another type
    sum,       ///< to = the sum of the lanes of args[0]
    maximum,   ///< to = the greatest of the lanes of args[0]
    barrier,   ///< waits for all threads of the block, and sees what they wrote
  };
  Kind kind;
  size_t to = 0;
  std::vector<size_t> args = {};
  Expr::Op op = Expr::Op::number;
  double number = 0;
  long lane = 0;

  size_t tensor = 0;
  poly::Affine offset = {};
  long stride = 1, row_stride = 0;
  /// A dimension along which args[i] moves a load: an index, as picks have it (expr.h).
  struct Picked {
    long extent;
    Layout::Axis axis;
  };
  std::vector<Picked> picked = {};

  size_t depth = 0;
  long from = 0, end = 0;
  Guard guard = {};
  Block body = {};
};

/// One kernel: the code of one outermost place of a nest.
struct Code {
  struct Variable {
    long lanes;
    Number number = Number::f32;
    long rows = 0;  ///< of a panel, each of so many lanes; 0: it is none
  };
  std::string name;
  Number number = Number::f32;  ///< of most variables
  std::vector<Tensor> tensors;
  std::vector<Layout> layouts;
  std::vector<Variable> variables;
  /// Extents of the parallel loops, from outside in: coordinates 0, 1, ... Workers share their
  /// iterations. These loops are not in the body.
  std::vector<long> parallel;
  std::vector<bool> used;     ///< which tensors does the code touch in memory?
  std::vector<long> scratch;  ///< where each tensor lies in scratch, in bytes; -1: elsewhere
  long scratch_bytes = 0;
  /// Of a GPU: coordinate i of the code is this axis, which counts to its extent. These loops are
  /// not in the body, either: each thread runs it once.
  struct Axis {
    Mark mark;
    long extent;
  };
  std::vector<Axis> axes = {};
  /// Of a GPU: where each tensor lies. Those in shared or private memory have their elements there;
  /// the layout says how many.
  std::vector<Space> spaces = {};
  long shared_bytes = 0, private_bytes = 0;  ///< of a block, and of a thread
  std::set<Extra> needs = {};                ///< extras of the target whose instructions it uses
  Block body;

  /// Returns how many iterations the parallel loops have together.
  long count() const;
  /// Returns how far an axis counts: 1 if no loop is bound to it.
  long extent(Mark axis) const;
  /// Returns how many blocks there are, and threads in each.
  long blocks() const;
  long threads() const;
};

/// Returns the tensors that a kernel gets as arguments, in order. They are in memory, but neither
/// in its scratch nor in the memory of a block or a thread.
std::vector<size_t> arguments_of(const Code& code);

/// Do threads wait for each other somewhere in these instructions?
bool has_barrier(const Block& block);

/// Is a tensor stored by some threads, or in some iterations, and not by others? NVIDIA's assembler
/// (ptxas 13.0) leaves out loads into what has no value elsewhere: there it should begin with one.
bool is_stored_by_some(const Block& block, size_t tensor, bool guarded = false);

/// Scans a nest as a target needs it. Local tensors have no more elements than live at a time. For
/// a GPU the loops of blocks and threads come outermost, spaces are settled and barriers put in.
LoopTree scan_for(const Target& target, const Nest& nest, const std::vector<Layout>& layouts);

/// Turns each outermost place of scanned loops into a kernel. A local tensor that only one kernel
/// touches lies in the scratch memory of this kernel, or in registers.
std::vector<Code> lower(const LoopTree& tree, const Target& target);

/// Prints a kernel.
std::string print(const Code& code);

}  // namespace lathe
