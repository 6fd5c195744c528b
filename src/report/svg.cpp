// svg.cpp: what all pictures share. Interface: svg.h.
#include "report/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace lathe {
namespace {

constexpr double radius = 3.5;

/// Draws the outline of a marker, without the end of its tag.
std::string outline(Marker marker, double x, double y, double scale) {
  double r = radius * scale, side = 6 * scale, half = 3 * scale, reach = 4.5 * scale;
  switch (marker) {
    case Marker::circle:
      return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.3g}\"", x, y, r);
    case Marker::square:
      return fmt::format("<path d=\"M{:.2f} {:.2f}h{:.3g}v{:.3g}h{:.3g}z\"", x - half, y - half,
                         side, side, -side);
    case Marker::triangle:
      return fmt::format("<path d=\"M{:.2f} {:.2f}l{:.3g} {:.3g}h{:.3g}z\"", x, y - reach,
                         4 * scale, 7 * scale, -8 * scale);
    case Marker::diamond:
      return fmt::format(
          "<path d=\"M{0:.2f} {1:.2f}l{2:.3g} {2:.3g}l{3:.3g} {2:.3g}l{3:.3g} {3:.3g}z\"", x,
          y - reach, reach, -reach);
    case Marker::cross:
      return fmt::format(
          "<path d=\"M{0:.2f} {1:.2f}l{2:.3g} {2:.3g}m0 {3:.3g}l{3:.3g} {2:.3g}\" fill=\"none\" "
          "stroke-width=\"2\"",
          x - half, y - half, side, -side);
  }
  return "";
}

/// Returns where each letter of a UTF-8 text begins, and its end.
std::vector<size_t> starts_of_letters(const std::string& text) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&apos;";
        break;
      default:
        if (byte >= 32 && byte != 127) result += c;
    }
  }
  return result;
}

size_t letters_in(const std::string& text) { return starts_of_letters(text).size() - 1; }

std::string shortened(const std::string& text, size_t letters) {
  std::vector<size_t> starts = starts_of_letters(text);
  size_t all = starts.size() - 1;
  if (all <= letters || letters < 3) return text;
  size_t head = (letters - 1) / 2, tail = letters - 1 - head;
  return text.substr(0, starts[head]) + "…" + text.substr(starts[all - tail]);
}

std::string beginning(const std::string& text, size_t letters) {
  std::vector<size_t> starts = starts_of_letters(text);
  if (starts.size() - 1 <= letters || letters < 1) return text;
  return text.substr(0, starts[letters - 1]) + "…";
}

std::string svg_head(long width, long height, const std::string& title, const Look& look) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
      "fill=\"{2}\">\n<title>{3}</title>\n",
      width, height, escaped(look.ink), escaped(title));
}

std::string text_at(double x, double y, const std::string& text, const std::string& style) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\"{}>{}</text>\n", x, y,
                     style.empty() ? "" : " " + style, escaped(text));
}

std::string line_between(double x1, double y1, double x2, double y2, const std::string& style) {
  return fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string marker_at(Marker marker, double x, double y, const std::string& label, double size) {
  std::string shape = outline(marker, x, y, std::sqrt(size));
  if (label.empty()) return shape + "/>\n";
  return fmt::format("{}><title>{}</title></{}>\n", shape, escaped(label),
                     marker == Marker::circle ? "circle" : "path");
}

std::string grid_style(const Look& look) {
  return fmt::format("stroke=\"{}\" stroke-opacity=\"0.25\"", escaped(look.faint));
}

std::string dash_style(const Look& look) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"",
                     escaped(look.ink));
}

}  // namespace lathe
