// bars.cpp: bars as SVG. Interface: bars.h.
#include "report/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "report/plot.h"

namespace lathe {
namespace {

constexpr double thickness = 14, gap = 8, margin = 4, below = 44, narrow = 480;

double width_of(const std::string& text) {
  return letter_width * static_cast<double>(letters_in(text));
}

std::string whole_name(const Bar& bar) {
  return bar.detail.empty() ? bar.name : bar.name + ", " + bar.detail;
}

/// Bars with all decisions made: where names, bars and texts are.
class Chart {
 public:
  explicit Chart(const Bars& bars)
      : bars_(bars), width_(static_cast<double>(bars.width)), is_narrow_(width_ < narrow) {
    if (bars.rows.empty()) fail("bars: '{}' has none", bars.title);
    double names = 0, texts = 0;
    for (const Bar& bar : bars.rows) {
      check_bar(bar);
      low_ = std::min({low_, bar.from, bar.to});
      high_ = std::max({high_, bar.from, bar.to});
      names = std::max(names, width_of(whole_name(bar)));
      texts = std::max(texts, width_of(bar.text));
    }
    if (high_ <= low_) high_ = low_ + 1;
    left_ = is_narrow_ ? margin : margin + std::min(names, 0.4 * width_) + gap;
    right_ = width_ - std::min(texts, 0.4 * width_) - gap - margin;
  }

  std::string text() const {
    std::string body = legend();
    double start = top_of_rows(), end = start;
    for (const Bar& bar : rows()) end += height_of(bar);
    body += axis(start, end + gap / 2);
    double top = start;
    for (size_t i = 0; i < rows().size(); ++i) {
      body += row(i, top);
      top += height_of(rows()[i]);
    }
    long height = std::lround(end + gap / 2 + below);
    std::string out = svg_head(bars_.width, height, bars_.title, bars_.look);
    if (bars_.look.heading) {
      out += text_at(margin, 24, bars_.title, "font-size=\"15\" font-weight=\"bold\"");
    }
    return out + body + "</svg>\n";
  }

 private:
  const Bars& bars_;
  double width_;
  bool is_narrow_;
  double low_ = 0, high_ = 0, left_ = 0, right_ = 0;

  const std::vector<Bar>& rows() const { return bars_.rows; }

  void check_bar(const Bar& bar) const {
    if (!std::isfinite(bar.from) || !std::isfinite(bar.to)) {
      fail("bars: '{}' of '{}' has no end", bar.name, bars_.title);
    }
    check(bar.style < bars_.styles.size(), "a bar has one of the styles");
  }

  /// Returns the height of the name, where it stands above the bar.
  double name_height(const Bar& bar) const {
    return is_narrow_ && !bar.name.empty() ? line_height - 2 : 0;
  }
  /// A bar without a name belongs to the one above it.
  double gap_above(const Bar& bar) const { return bar.name.empty() ? 1 : gap; }
  double height_of(const Bar& bar) const { return gap_above(bar) + name_height(bar) + thickness; }
  double place(double value) const {
    return left_ + (value - low_) / (high_ - low_) * (right_ - left_);
  }

  static std::string rectangle(double x, double y, double width, const std::string& colour) {
    return fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" rx=\"1.5\" fill=\"{}\"", x,
        y, width, thickness, escaped(colour));
  }

  std::string row(size_t i, double top) const {
    const Bar& bar = rows()[i];
    double y = top + gap_above(bar) + name_height(bar);
    double a = place(std::min(bar.from, bar.to)), b = place(std::max(bar.from, bar.to));
    std::string hint = bar.hint.empty() ? whole_name(bar) + ": " + bar.text : bar.hint;
    std::string out =
        is_narrow_ ? text_at(left_, y - 4, name_of(bar))
                   : text_at(left_ - gap, y + thickness - 3, name_of(bar), "text-anchor=\"end\"");
    // A bar of nothing is a thin line.
    out += rectangle(a, y, std::max(1.0, b - a), bars_.styles[bar.style].colour);
    out += "><title>" + escaped(hint) + "</title></rect>\n";
    out += text_at(b + 6, y + thickness - 3, bar.text);
    if (bars_.joined && i + 1 < rows().size()) {
      double x = place(bar.to);
      out += line_between(x, y + thickness, x, y + height_of(rows()[i + 1]),
                          "stroke=\"" + escaped(bars_.look.faint) + "\"");
    }
    return out;
  }

  /// Returns the name and what there is room for of its detail.
  std::string name_of(const Bar& bar) const {
    constexpr size_t least = 8;  // letters of a detail that say anything
    double room = is_narrow_ ? width_ - 2 * margin : left_ - gap - margin;
    auto letters = static_cast<size_t>(std::max(3.0, room / letter_width + 0.5));
    if (letters_in(whole_name(bar)) <= letters) return whole_name(bar);
    bool cuts_detail = !bar.detail.empty() && letters_in(bar.name) + 2 + least <= letters;
    return cuts_detail ? beginning(whole_name(bar), letters) : shortened(bar.name, letters);
  }

  std::string axis(double start, double end) const {
    std::string out;
    for (const Tick& tick :
         ticks(low_, high_, Scale::linear, std::min(10, static_cast<int>(right_ - left_) / 50))) {
      double x = place(tick.at);
      out += line_between(x, start, x, end, grid_style(bars_.look));
      out += text_at(x, end + 16, tick.text, "text-anchor=\"middle\"");
    }
    return out + text_at((left_ + right_) / 2, end + 35, bars_.axis, "text-anchor=\"middle\"");
  }

  // The legend is above the rows, in as many lines as it needs.

  double top_of_rows() const {
    double top = bars_.look.heading ? 40 : 6;
    double lines = 0;
    place_legend([&](size_t, double, double line) { lines = line + 1; });
    return top + lines * line_height + (lines > 0 ? 4 : 0);
  }

  bool is_used(size_t style) const {
    return std::any_of(rows().begin(), rows().end(),
                       [&](const Bar& bar) { return bar.style == style; });
  }

  template <class Use>
  void place_legend(const Use& use) const {
    double x = margin, line = 0;
    for (size_t i = 0; i < bars_.styles.size(); ++i) {
      if (bars_.styles[i].name.empty() || !is_used(i)) continue;
      double width = 24 + width_of(bars_.styles[i].name) + 16;
      if (x > margin && x + width > width_) x = margin, ++line;
      use(i, x, line);
      x += width;
    }
  }

  std::string legend() const {
    std::string out;
    double top = bars_.look.heading ? 40 : 6;
    place_legend([&](size_t i, double x, double line) {
      double y = top + line * line_height;
      out += rectangle(x, y, 18, bars_.styles[i].colour) + "/>\n";
      out += text_at(x + 24, y + thickness - 3, bars_.styles[i].name);
    });
    return out;
  }
};

}  // namespace

std::string print_svg(const Bars& bars) { return Chart(bars).text(); }

}  // namespace lathe
