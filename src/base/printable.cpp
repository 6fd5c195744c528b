// printable.cpp: text that a terminal shows and does not obey. Interface: printable.h.
#include "base/printable.h"

#include <fmt/format.h>

namespace lathe {
namespace {

constexpr unsigned char delete_character = 0x7f;

/// The first byte of U+0080 to U+00BF in UTF-8; those up to U+009F are control characters, too.
constexpr unsigned char c2 = 0xc2;

bool is_control(unsigned char c) {
  return (c < ' ' && c != '\n' && c != '\t') || c == delete_character;
}

}  // namespace

std::string Printable::next(std::string_view part) {
  std::string result;
  for (char letter : part) {
    auto c = static_cast<unsigned char>(letter);
    bool second = after_c2_ && c >= 0x80 && c < 0xa0;
    if (after_c2_ && !second) result += static_cast<char>(c2);
    after_c2_ = c == c2;
    if (after_c2_) continue;  // what it is depends on the next byte
    bool obeyed = obeyed_.find(letter) != std::string::npos;
    if (second || (is_control(c) && !obeyed)) {
      result += fmt::format("\\u{:04x}", c);
    } else {
      result += letter;
    }
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result = Printable().next(text);
  return text.ends_with(static_cast<char>(c2)) ? result + static_cast<char>(c2) : result;
}

}  // namespace lathe
