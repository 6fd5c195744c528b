// plot.cpp: points as SVG. Interface: plot.h.
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace lathe {
namespace {

// Okabe and Ito's palette, without its yellow, which is pale on white.
constexpr std::array<const char*, 6> colours = {"#0072B2", "#D55E00", "#009E73",
                                                "#CC79A7", "#56B4E9", "#E69F00"};
constexpr std::array<Marker, 5> markers = {Marker::circle, Marker::square, Marker::triangle,
                                           Marker::diamond, Marker::cross};
constexpr double left = 64, right = 18, bottom = 48;

/// An axis with all its decisions made: what it covers, and where that lies in the picture.
class Ruler {
 public:
  /// "start" and "end" are where the least and the greatest number lie.
  Ruler(const Axis& axis, const std::vector<double>& drawn, double start, double end)
      : scale_(axis.scale), start_(start), end_(end) {
    if (drawn.empty() && !(axis.low && axis.high)) {
      fail("plot: the axis '{}' has nothing to cover", axis.title);
    }
    auto [least, most] = std::minmax_element(drawn.begin(), drawn.end());
    double low = axis.low.value_or(drawn.empty() ? 0 : *least);
    double high = axis.high.value_or(drawn.empty() ? 0 : *most);
    check_end(axis, low);
    check_end(axis, high);
    if (low > high) fail("plot: the axis '{}' goes from {} down to {}", axis.title, low, high);
    // Room around what is drawn, also where all of it is one number.
    low = moved(low), high = moved(high);
    double room = high > low ? 0.04 * (high - low) : scale_ == Scale::linear ? one_sided(low) : 0.5;
    low_ = axis.low && high > low ? low : low - room;
    high_ = axis.high && high > low ? high : high + room;
  }

  bool covers(double value) const {
    double at = moved(value), slack = 1e-9 * (high_ - low_);
    return at >= low_ - slack && at <= high_ + slack;
  }

  double place(double value) const {
    return start_ + (moved(value) - low_) / (high_ - low_) * (end_ - start_);
  }

  /// Returns the place of a number, or of the end of the axis that is nearest.
  double clamped(double value) const {
    return start_ +
           (std::clamp(moved(value), low_, high_) - low_) / (high_ - low_) * (end_ - start_);
  }

  std::vector<Tick> marks(int wanted) const {
    bool linear = scale_ == Scale::linear;
    return ticks(linear ? low_ : std::pow(10, low_), linear ? high_ : std::pow(10, high_), scale_,
                 wanted);
  }

 private:
  Scale scale_;
  double start_, end_, low_ = 0, high_ = 1;

  static double one_sided(double value) { return value == 0 ? 1 : 0.1 * std::abs(value); }

  double moved(double value) const { return scale_ == Scale::linear ? value : std::log10(value); }

  void check_end(const Axis& axis, double value) const {
    bool fits = std::isfinite(value) && (scale_ == Scale::linear || value > 0);
    if (!fits) fail("plot: the axis '{}' cannot have its end at {}", axis.title, value);
  }
};

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(checked(plot)),
        legend_rows_(rows_of_legend()),
        x_(plot.x, drawn(Line::Along::x), left, static_cast<double>(plot.width) - right),
        y_(plot.y, drawn(Line::Along::y), static_cast<double>(plot.height) - bottom, above()) {}

  std::string text() const {
    std::string out = svg_head(plot_.width, plot_.height, plot_.title, plot_.look);
    if (plot_.look.heading) {
      out += text_at(left, 24, plot_.title, "font-size=\"15\" font-weight=\"bold\"");
    }
    out += axes() + lines() + series() + legend();
    return out + "</svg>\n";
  }

 private:
  const Plot& plot_;
  size_t legend_rows_;
  Ruler x_, y_;

  static void check_number(const Axis& axis, double value, const std::string& name) {
    bool fits = std::isfinite(value) && (axis.scale == Scale::linear || value > 0);
    if (fits) return;
    fail("plot: '{}' has no place for {} on the {} axis '{}'", name, value,
         axis.scale == Scale::linear ? "linear" : "logarithmic", axis.title);
  }

  static const Plot& checked(const Plot& plot) {
    if (plot.width < 200 || plot.height < 150) {
      fail("plot: {} by {} is too small; 200 by 150 is the least", plot.width, plot.height);
    }
    for (const Series& each : plot.series) {
      for (const Point& point : each.points) {
        check_number(plot.x, point.x, each.name);
        check_number(plot.y, point.y, each.name);
      }
    }
    for (const Line& line : plot.lines) {
      const Axis& axis = line.where == Line::Along::x ? plot.x : plot.y;
      check_number(axis, line.at, line.name);
      check_number(axis, line.to.value_or(line.at), line.name);
    }
    return plot;
  }

  /// Returns all numbers that an axis has to cover.
  std::vector<double> drawn(Line::Along along) const {
    std::vector<double> result;
    for (const Series& each : plot_.series) {
      for (const Point& p : each.points) result.push_back(along == Line::Along::x ? p.x : p.y);
    }
    for (const Line& line : plot_.lines) {
      if (line.where != along) continue;
      result.push_back(line.at);
      result.push_back(line.to.value_or(line.at));
    }
    return result;
  }

  double top() const { return plot_.look.heading ? 44 : 16; }
  double above() const { return top() + line_height * static_cast<double>(legend_rows_); }
  double below() const { return static_cast<double>(plot_.height) - bottom; }
  double end() const { return static_cast<double>(plot_.width) - right; }

  std::string axes() const {
    std::string out;
    for (const Tick& tick : x_.marks(static_cast<int>((end() - left) / 80))) {
      double x = x_.place(tick.at);
      out += line_between(x, above(), x, below(), grid_style(plot_.look));
      out += text_at(x, below() + 16, tick.text, "text-anchor=\"middle\"");
    }
    for (const Tick& tick : y_.marks(static_cast<int>((below() - above()) / 36))) {
      double y = y_.place(tick.at);
      out += line_between(left, y, end(), y, grid_style(plot_.look));
      out += text_at(left - 7, y + 4, tick.text, "text-anchor=\"end\"");
    }
    out += fmt::format("<path d=\"M{:.2f} {:.2f}V{:.2f}H{:.2f}\" fill=\"none\" stroke=\"{}\"/>\n",
                       left, above(), below(), end(), escaped(plot_.look.ink));
    out += text_at((left + end()) / 2, below() + 37, plot_.x.title, "text-anchor=\"middle\"");
    double middle = (above() + below()) / 2;
    out +=
        text_at(16, middle, plot_.y.title,
                fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 16 {:.2f})\"", middle));
    return out;
  }

  // Lines and bands lie below the points.

  std::string lines() const {
    std::string out;
    for (const Line& line : plot_.lines) {
      bool along_x = line.where == Line::Along::x;
      const Ruler& ruler = along_x ? x_ : y_;
      if (line.to) {
        double a = ruler.clamped(line.at), b = ruler.clamped(*line.to);
        double low = std::min(a, b), size = std::abs(a - b);
        out += along_x ? band(low, above(), size, below() - above())
                       : band(left, low, end() - left, size);
      } else if (ruler.covers(line.at)) {
        double at = ruler.place(line.at);
        out += along_x ? line_between(at, above(), at, below(), dash_style(plot_.look))
                       : line_between(left, at, end(), at, dash_style(plot_.look));
      }
    }
    return out;
  }

  std::string band(double x, double y, double width, double height) const {
    return fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "fill-opacity=\"0.2\"/>\n",
        x, y, width, height, escaped(plot_.look.faint));
  }

  std::string colour_of(size_t i) const {
    return plot_.series[i].colour.value_or(colours[i % colours.size()]);
  }

  Marker marker_of(size_t i) const {
    return plot_.series[i].marker.value_or(markers[i % markers.size()]);
  }

  std::string series() const {
    std::string out;
    for (size_t i = 0; i < plot_.series.size(); ++i) {
      const Series& each = plot_.series[i];
      std::string colour = escaped(colour_of(i)), joined, points;
      for (const Point& p : each.points) {
        if (!x_.covers(p.x) || !y_.covers(p.y)) continue;
        double x = x_.place(p.x), y = y_.place(p.y);
        joined += fmt::format("{}{:.2f} {:.2f}", joined.empty() ? "M" : "L", x, y);
        points += marker_at(marker_of(i), x, y, p.label, p.size);
      }
      out += fmt::format("<g fill=\"{0}\" stroke=\"{0}\" fill-opacity=\"0.7\">\n", colour);
      if (each.joined && !joined.empty()) {
        out += fmt::format("<path d=\"{}\" fill=\"none\" stroke-width=\"1.5\"/>\n", joined);
      }
      out += points + "</g>\n";
    }
    return out;
  }

  // The legend is between title and points: there it hides nothing.

  struct Entry {
    const std::string* name;
    size_t index;
    bool is_line;
  };

  std::vector<Entry> entries() const {
    std::vector<Entry> result;
    for (size_t i = 0; i < plot_.series.size(); ++i) {
      if (!plot_.series[i].name.empty()) result.push_back({&plot_.series[i].name, i, false});
    }
    for (size_t i = 0; i < plot_.lines.size(); ++i) {
      if (!plot_.lines[i].name.empty()) result.push_back({&plot_.lines[i].name, i, true});
    }
    // A single series is what the title says.
    return result.size() == 1 && !result[0].is_line ? std::vector<Entry>{} : result;
  }

  static double width_of(const Entry& entry) {
    return 24 + letter_width * static_cast<double>(letters_in(*entry.name)) + 16;
  }

  size_t rows_of_legend() const {
    size_t rows = 0;
    double x = 0;
    for (const Entry& entry : entries()) {
      bool fits = rows > 0 && x + width_of(entry) <= end() - left;
      rows += fits ? 0 : 1;
      x = (fits ? x : 0) + width_of(entry);
    }
    return rows;
  }

  std::string legend() const {
    std::string out;
    double x = left, y = top() - line_height;
    bool first = true;
    for (const Entry& entry : entries()) {
      if (first || x + width_of(entry) > end()) {
        x = left;
        y += line_height;
        first = false;
      }
      out += sample(entry, x, y);
      out += text_at(x + 24, y + 4, *entry.name);
      x += width_of(entry);
    }
    return out;
  }

  std::string sample(const Entry& entry, double x, double y) const {
    if (entry.is_line) {
      return plot_.lines[entry.index].to ? band(x, y - 6, 18, 12)
                                         : line_between(x, y, x + 18, y, dash_style(plot_.look));
    }
    std::string marker = marker_at(marker_of(entry.index), x + 9, y, "");
    return fmt::format("<g fill=\"{0}\" stroke=\"{0}\" fill-opacity=\"0.7\">\n{1}</g>\n",
                       escaped(colour_of(entry.index)), marker);
  }
};

}  // namespace

std::string print_svg(const Plot& plot) { return Drawing(plot).text(); }

}  // namespace lathe
