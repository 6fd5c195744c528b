// grid.cpp: grids as SVG. Interface: grid.h.
#include "report/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lathe {
namespace {

constexpr double cell = 18, side = 12, border = 8, heading = 34;
constexpr const char *full_colour = "#0072B2", *ring_colour = "#D55E00";

std::string square(double x, double y, GridMark mark) {
  if (mark == GridMark::none) return "";
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
      "fill-opacity=\"{}\"/>\n",
      x - side / 2, y - side / 2, side, side, full_colour, mark == GridMark::full ? "1" : "0.35");
}

std::string ring(double x, double y) {
  double size = side + 4;
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
      "stroke=\"{}\" stroke-width=\"1.5\"/>\n",
      x - size / 2, y - size / 2, size, size, ring_colour);
}

double longest(const std::vector<std::string>& texts) {
  size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, letters_in(text));
  return letter_width * static_cast<double>(most);
}

class GridPicture {
 public:
  explicit GridPicture(const CellGrid& grid) : grid_(grid) {
    std::vector<std::string> names;
    for (const GridRow& row : grid.rows) {
      check(row.cells.size() == grid.columns.size(), "a row has a cell for each column");
      names.push_back(row.name);
    }
    left_ = border + longest(names) + border;
    top_ = heading + longest(grid.columns) + border;
  }

  std::string text() const {
    double bottom = top_ + cell * static_cast<double>(grid_.rows.size());
    double right = left_ + cell * static_cast<double>(grid_.columns.size());
    std::string out = svg_head(std::lround(right + border), std::lround(bottom + 2 * line_height),
                               grid_.title, grid_.look);
    if (grid_.look.heading) {
      out += text_at(border, 24, grid_.title, "font-size=\"15\" font-weight=\"bold\"");
    }
    for (size_t c = 0; c < grid_.columns.size(); ++c) out += column(c, bottom);
    for (size_t r = 0; r < grid_.rows.size(); ++r) out += row(r);
    return out + legend(bottom + line_height) + "</svg>\n";
  }

 private:
  const CellGrid& grid_;
  double left_, top_;

  double x_of(size_t column) const { return left_ + cell * (static_cast<double>(column) + 0.5); }
  double y_of(size_t row) const { return top_ + cell * (static_cast<double>(row) + 0.5); }

  std::string column(size_t c, double bottom) const {
    double x = x_of(c);
    std::string turned = fmt::format("transform=\"rotate(-90 {:.2f} {:.2f})\"", x + 4, top_ - 4);
    return line_between(x, top_, x, bottom, grid_style(grid_.look)) +
           text_at(x + 4, top_ - 4, grid_.columns[c], turned);
  }

  std::string row(size_t r) const {
    double y = y_of(r);
    std::string out = text_at(left_ - border, y + 4, grid_.rows[r].name, "text-anchor=\"end\"");
    for (size_t c = 0; c < grid_.columns.size(); ++c) {
      const GridCell& cell = grid_.rows[r].cells[c];
      out += square(x_of(c), y, cell.mark);
      if (cell.ringed) out += ring(x_of(c), y);
    }
    return out;
  }

  std::string legend(double y) const {
    double x = border + side;
    std::string out;
    auto add = [&](const std::string& mark, const std::string& text) {
      out += mark + text_at(x + cell, y + 4, text);
      x += 2 * cell + letter_width * static_cast<double>(letters_in(text));
    };
    add(square(x, y, GridMark::full), grid_.full);
    add(square(x, y, GridMark::half), grid_.half);
    if (!grid_.ring.empty()) add(ring(x, y), grid_.ring);
    return out;
  }
};

}  // namespace

std::string print_svg(const CellGrid& grid) { return GridPicture(grid).text(); }

}  // namespace lathe
