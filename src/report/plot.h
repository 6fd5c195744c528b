// Pictures of points, as SVG: a title, two axes, series of points, lines to compare them with.
//
//   Plot plot{.title = "Score and accuracy", .x = {"score"}, .y = {"accuracy, %"}};
//   plot.series.push_back({"NAS-Bench-201", points});
//   plot.series.push_back({"found", {{0.9, 94.1, "group(4)"}}, Marker::diamond});
//   plot.lines.push_back({Line::Along::y, 93.5, "the original"});
//   write_file("plot.svg", ... print_svg(plot));
//
// The same plot makes the same bytes. Readers who are colour-blind can tell the colours apart, and
// each series has its own marker. Text and axes are of a grey that shows on light and on dark
// pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/svg.h"

namespace lathe {

enum class Scale { linear, logarithmic };

/// What is written along an axis, and its range: from low to high; unless given, all points fit.
struct Axis {
  std::string title;
  Scale scale = Scale::linear;
  std::optional<double> low = std::nullopt, high = std::nullopt;
};

struct Point {
  double x = 0, y = 0;
  std::string label = {};  ///< shown when the pointer is on the point
  double size = 1;         ///< of its area, relative to the usual
};

/// Points that are drawn alike. Unless given, marker and colour follow from the place in the list.
struct Series {
  std::string name;
  std::vector<Point> points;
  std::optional<Marker> marker = std::nullopt;
  std::optional<std::string> colour = std::nullopt;  ///< as "#0072B2", "var(--warm)"
  bool joined = false;                               ///< by lines, in the order given
};

/// A line to compare with, where x or y has one value, or a band between two values.
struct Line {
  enum class Along { x, y } where = Along::y;
  double at = 0;
  std::string name = {};                    ///< in the legend; empty: not there
  std::optional<double> to = std::nullopt;  ///< the other end of a band
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series = {};
  std::vector<Line> lines = {};
  long width = 640, height = 420;
  Look look = {};
};

/// Writes a plot as an SVG file. Points outside the given range of an axis are left out. Fails if a
/// point has no place, and names its series: a NaN has none, nor has 0 on a logarithmic axis.
std::string print_svg(const Plot& plot);

/// A number at which an axis has a mark, and what is written there.
struct Tick {
  double at = 0;
  std::string text;
};

/// Returns marks at round numbers from "low" to "high", about as many as wanted: multiples of 1, 2
/// or 5 times a power of ten, or these powers themselves.
std::vector<Tick> ticks(double low, double high, Scale scale, int wanted);

}  // namespace lathe
