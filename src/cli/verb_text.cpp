// verb_text.cpp: text that fits a terminal. Interface: verb_text.h.
#include "cli/verb_text.h"

#include <algorithm>

namespace lathe {
namespace {

constexpr size_t columns = 80;

}  // namespace

std::string wrapped(const std::string& text, size_t indent, size_t first_indent) {
  std::string out;
  size_t column = first_indent;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (column > indent && column + 1 + word.size() > columns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (at > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at = end + 1;
  }
  return out;
}

}  // namespace lathe
