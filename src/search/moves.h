// Moves: a neural step, and the program steps before it that decide what it means.
//
//   for (const Move& move : moves_on(nest)) use(move.steps);
//   group(4)      split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)      ... -> bottleneck(2)
//
// A neural step acts on the outermost loops of one statement. So what it can mean is told by which
// loops these are: one or two of the statement's loops, or halves of one that is split. Moves are
// found from there, and only where the factor divides. Nothing is applied, and what would mean the
// same is left out:
//   - slices of the outer half of a split loop are slices of the loop;
//   - slices of two fused loops are slices of the outer one; if there are more slices than that has
//     iterations, what is left has no form in standard operators. So no move fuses loops.
#pragma once

#include "nest/nest.h"
#include "nest/step.h"

namespace lathe {

/// What a move does, by the loops that it acts on.
enum class MoveSort {
  filters,   ///< fewer filters
  reads,     ///< fewer input channels
  position,  ///< fewer rows or columns
  group,     ///< filters and channels in groups
  shuffle,   ///< the same, but a group reads every n-th channel
  stripe,    ///< positions and channels in groups
  rare,      ///< anything else
};

struct Move {
  Recipe steps;  ///< program steps, then the neural one
  MoveSort sort;
  long factor;
  size_t loop = 0;      ///< of the statement: the one that gets fewer iterations
  bool widens = false;  ///< by a 1x1 convolution behind it
  bool all = false;     ///< are all slices left with one iteration?
};

struct MoveOptions {
  long factor = 16;    ///< at most; one that leaves a single channel is allowed, too
  size_t program = 3;  ///< program steps, at most
};

/// Returns what neural steps can do next. Not all moves apply: completions may refuse.
std::vector<Move> moves_on(const Nest& nest, const MoveOptions& options = {});

/// Returns the steps that cut a layer into two parts, each open to its own moves.
std::vector<Step> cuts_of(const Nest& nest);

/// Returns the step that puts the next statement first, so that moves act on that one.
std::optional<Step> next_statement(const Nest& nest);

}  // namespace lathe
