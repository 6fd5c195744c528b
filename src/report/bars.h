// Pictures of lengths, as SVG. Each row has a name, a bar from one number to another, and a text
// behind the bar.
//
//   Bars bars{.title = "Where the time went", .axis = "ms", .styles = {{"total", "#0072B2"}}};
//   bars.rows.push_back({"original", 0, 26.4, "26.4 ms"});
//   bars.rows.push_back({"layer1.0.conv1", 26.4, 25.1, "-1.3 ms", 1});
//   print_svg(bars)
//
// Where the picture is narrow, names stand above their bars. Names that are too long are shortened,
// details first; the pointer shows the whole name.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace lathe {

struct Bar {
  std::string name;
  double from = 0, to = 0;
  std::string text = {};    ///< behind the bar
  size_t style = 0;         ///< index into the styles of the picture
  std::string hint = {};    ///< shown when the pointer is on it; empty: the name and the text
  std::string detail = {};  ///< behind the name, as far as there is room
};

/// How bars of one kind are drawn, and what the kind is called.
struct BarStyle {
  std::string name;    ///< in the legend, if a bar has this style; empty: not in the legend
  std::string colour;  ///< as "#0072B2", "var(--warm)"
};

struct Bars {
  std::string title;
  std::string axis;  ///< what the lengths are, with the unit
  std::vector<BarStyle> styles;
  std::vector<Bar> rows = {};
  bool joined = false;  ///< a line goes from the end of each to the next: a waterfall
  long width = 640;
  Look look = {};
};

/// Writes the bars as an SVG file, as high as they need. Fails if there are no bars, or if an end
/// of one is no number.
std::string print_svg(const Bars& bars);

}  // namespace lathe
