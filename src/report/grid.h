// Pictures of which rows have which columns, as SVG: a square in each place that is marked.
//
//   CellGrid grid{.title = "Which passes change which network", .columns = {"FuseOps",
//   "FoldConstant"},
//             .full = "alone", .half = "after others", .ring = "as published"};
//   grid.rows.push_back({"resnet50", {{GridMark::full, true}, {GridMark::none}}});
//   print_svg(grid)
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace lathe {

enum class GridMark { none, half, full };

struct GridCell {
  GridMark mark = GridMark::none;
  bool ringed = false;
};

struct GridRow {
  std::string name;
  std::vector<GridCell> cells;  ///< one for each column
};

struct CellGrid {
  std::string title;
  std::vector<std::string> columns;  ///< their names, which are written upwards
  std::string full, half, ring;      ///< what the marks mean
  std::vector<GridRow> rows = {};
  Look look = {};
};

/// Writes the grid as an SVG file, as large as it needs.
std::string print_svg(const CellGrid& grid);

}  // namespace lathe
