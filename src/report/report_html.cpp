// report_html.cpp: builds HTML from parts. Interface: report_html.h.
#include "report/report_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/report_style.h"
#include "report/svg.h"

namespace lathe {
namespace {

std::string style_of(const HtmlColumn& column) {
  if (column.numeric) return "class=\"number\"";
  return column.wraps ? "class=\"wraps\"" : "";
}

Html row_of(const HtmlRow& row, const std::vector<HtmlColumn>& columns) {
  bool opens = !row.more.source.empty();
  Html cells;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    Html cell = row.cells[i];
    // What opens is the row below, by the style sheet: a cell is too narrow for it.
    if (i == 0 && opens) cell = element("details", element("summary", cell));
    cells += element("td", cell, style_of(columns[i]));
  }
  Html out = element("tr", cells);
  if (opens) {
    Html more = element("td", row.more, fmt::format("colspan=\"{}\"", columns.size()));
    out += element("tr", more, "class=\"more\"");
  }
  return element("tbody", out);
}

}  // namespace

Html html_text(const std::string& text) {
  std::string out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    out += escaped(text.substr(at, end - at));
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return {out};
}

Html element(const std::string& tag, const Html& content, const std::string& attributes) {
  return {fmt::format("<{0}{1}{2}>{3}</{0}>\n", tag, attributes.empty() ? "" : " ", attributes,
                      content.source)};
}

Html element(const std::string& tag, const std::string& content, const std::string& attributes) {
  return element(tag, html_text(content), attributes);
}

Html html_table(const std::string& label, const std::vector<HtmlColumn>& columns,
                const std::vector<HtmlRow>& rows) {
  Html head;
  for (const HtmlColumn& column : columns) {
    std::string number = column.numeric ? " class=\"number\"" : "";
    head += element("th", column.name, "scope=\"col\"" + number);
  }
  Html out = element("thead", element("tr", head));
  for (const HtmlRow& row : rows) out += row_of(row, columns);
  // Who has no pointer scrolls by keys, for which the box must be reachable.
  return element("div", element("table", out),
                 fmt::format("class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"",
                             escaped(label)));
}

std::vector<long> widths_of(HtmlFigure::Span span) {
  return span == HtmlFigure::Span::half ? std::vector<long>{328, 508}
                                        : std::vector<long>{328, 640, 1040};
}

Html html_figure(const HtmlFigure& figure) {
  Html out = figure.title.empty() ? Html{} : element("h3", figure.title);
  for (long width : widths_of(figure.span)) {
    out += element("div", Html{figure.draw(width)}, fmt::format("class=\"at{}\"", width));
  }
  if (!figure.caption.empty()) out += element("figcaption", figure.caption);
  const char* size = figure.span == HtmlFigure::Span::half ? "half" : "full";
  return element("figure", out, fmt::format("id=\"{}\" class=\"{}\"", escaped(figure.id), size));
}

Html html_details(const Html& summary, const Html& content, bool is_open) {
  return element("details", element("summary", summary) + content, is_open ? "open" : "");
}

std::string print_page(const std::string& title, const Html& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n"
      "<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      escaped(title), page_style, body.source);
}

}  // namespace lathe
