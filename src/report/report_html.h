// Builds HTML that no text can break: every text is escaped.
//
//   Html row = html_text("a < b") + element("b", html_text("3.8 times faster"), "class=\"big\"");
//   print_page("lathe: resnet34-cifar", row)          one file; it loads nothing from elsewhere
//
// Pages follow the reader's choice of light or dark; wide parts scroll in boxes of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lathe {

/// HTML as it stands in a page.
struct Html {
  std::string source;

  Html& operator+=(const Html& other) {
    source += other.source;
    return *this;
  }
  friend Html operator+(Html a, const Html& b) { return a += b; }
};

/// Escapes a text; lines stay lines where the page shows them (in "pre").
Html html_text(const std::string& text);

/// Returns <tag attributes>content</tag>. Attributes are ours, never what a user wrote.
Html element(const std::string& tag, const Html& content, const std::string& attributes = "");

/// The same for a text, which is escaped.
Html element(const std::string& tag, const std::string& content,
             const std::string& attributes = "");

/// A column of a table: its heading, and whether it holds numbers, or text that may wrap.
struct HtmlColumn {
  std::string name;
  bool numeric = false, wraps = false;
};

/// A row of a table, and what is shown below it when the reader opens it, if anything.
struct HtmlRow {
  std::vector<Html> cells;
  Html more = {};
};

/// Returns a table in a box that scrolls. The first cell of a row that has more opens it.
Html html_table(const std::string& label, const std::vector<HtmlColumn>& columns,
                const std::vector<HtmlRow>& rows);

/// A picture that is drawn for several widths; the page shows the one that fits.
struct HtmlFigure {
  enum class Span { half, full };
  std::string id, title, caption;         ///< an empty title or caption is left out
  std::function<std::string(long)> draw;  ///< SVG of that width
  Span span = Span::half;                 ///< of a wide page
};

/// Returns the widths that pictures are drawn for, the first for telephones.
std::vector<long> widths_of(HtmlFigure::Span span);

Html html_figure(const HtmlFigure& figure);

/// Returns a part of the page that opens on demand.
Html html_details(const Html& summary, const Html& content, bool is_open = false);

/// Writes the page as a file.
std::string print_page(const std::string& title, const Html& body);

}  // namespace lathe
