// The loops that winograd(m) makes: the step names them, and what schedules its result finds them.
//
//   of oh and ow:   oh.o, ow.o  tiles;   oh.i, ow.i  outputs of a tile;
//                   u, v  elements of a transformed tile;   ih, iw  inputs of a tile
//   of the data:    c  channels, where the statement's own loops do not count them side by side
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Sums of narrow products may be taken apart by subsum into parts of so many: the bound of
/// winograd counts them, as its outputs are several such sums.
inline constexpr long winograd_most_in_subsum = 128;

/// Names of loops. Each pair counts rows, then columns.
struct WinogradLoops {
  std::string tile_rows, tile_columns;    ///< the tiles of the output
  std::string rows, columns;              ///< the outputs of a tile
  std::string u, v;                       ///< the rows and columns of a transformed tile
  std::string input_rows, input_columns;  ///< the inputs of a tile
  std::string channels;                   ///< of the data, where they are counted as they lie
};

/// Returns the names for a nest to which the step is about to be applied; "rows" and "columns" are
/// the loops over the outputs of the statement.
WinogradLoops winograd_loops(const Nest& nest, const std::string& rows, const std::string& columns);

}  // namespace lathe
