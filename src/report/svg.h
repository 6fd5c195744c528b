// Parts of SVG files that all pictures share: text, lines, markers, and how they look.
//
//   std::string out = svg_head(640, 420, "Score and accuracy", look);
//   out += text_at(64, 24, "a title", "font-weight=\"bold\"");
//   out += marker_at(Marker::diamond, 100, 80, "group(4)") + "</svg>\n";
//
// Numbers are written with two decimals, so that the bytes do not depend on how a machine rounds.
#pragma once

#include <string>

namespace lathe {

/// The colours of a picture. These greys contrast about equally with white and with black; a page
/// can give its own colours, also as "var(--ink)".
struct Look {
  std::string ink = "#777777", faint = "#999999";
  bool heading = true;  ///< draw the title, besides telling it to screen readers?
};

enum class Marker { circle, square, triangle, diamond, cross };

/// The width of a letter, roughly, and the height of a line.
constexpr double letter_width = 6.9, line_height = 18;

/// Writes text as it stands in XML: & < > and quotes are escaped, control characters left out.
std::string escaped(const std::string& text);

/// Returns how many letters a text has, which is in UTF-8.
size_t letters_in(const std::string& text);
/// Returns the text, or its two ends with dots between them, in at most "letters" letters.
std::string shortened(const std::string& text, size_t letters);
/// Returns the text, or its beginning with dots behind it, in at most "letters" letters.
std::string beginning(const std::string& text, size_t letters);

/// Begins a file, with its title.
std::string svg_head(long width, long height, const std::string& title, const Look& look);

std::string text_at(double x, double y, const std::string& text, const std::string& style = "");
std::string line_between(double x1, double y1, double x2, double y2, const std::string& style);

/// Draws a marker. Its area is "size" times the usual one. The label is shown when the pointer is
/// on it.
std::string marker_at(Marker marker, double x, double y, const std::string& label, double size = 1);

/// Returns the style of the lines of a grid, and of lines to compare with.
std::string grid_style(const Look& look);
std::string dash_style(const Look& look);

}  // namespace lathe
