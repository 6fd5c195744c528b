// Damages texts: flipped, deleted and repeated bytes and tokens, huge numbers, cut ends.
#pragma once

#include <cctype>
#include <string>

#include "support/random_case.h"

namespace lathe::test {

/// Returns where a token begins at or after "at", and how long it is.
inline std::pair<size_t, size_t> token_at(const std::string& text, size_t at) {
  auto is_word = [&](size_t i) {
    return std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '.' || text[i] == '_';
  };
  while (at > 0 && is_word(at) && is_word(at - 1)) --at;
  size_t end = at + 1;
  while (end < text.size() && is_word(at) && is_word(end)) ++end;
  return {at, end - at};
}

/// Damages a text once.
inline std::string mutated_once(Random& random, std::string text) {
  if (text.empty()) return "x";
  auto anywhere = [&] {
    return static_cast<size_t>(random.between(0, static_cast<long>(text.size()) - 1));
  };
  auto [at, length] = token_at(text, anywhere());
  auto [other, other_length] = token_at(text, anywhere());
  switch (random.between(0, 9)) {
    case 0:
      text[anywhere()] = static_cast<char>(random.between(0, 255));
      return text;
    case 1:
      text[anywhere()] ^= static_cast<char>(1 << random.between(0, 7));
      return text;
    case 2:
      return text.substr(0, anywhere());
    case 3:
      return text.substr(anywhere());
    case 4:
      return text.erase(at, length);
    case 5:
      return text.insert(at, text.substr(other, other_length));
    case 6:
      return text.replace(at, length, text.substr(other, other_length));
    case 7:
      return text.replace(
          at, length,
          random.pick({"0", "1", "2", "-1", "7", "1073741823", "1073741824", "2147483648",
                       "4294967296", "9223372036854775807", "9223372036854775808",
                       "99999999999999999999999", "1e9", "1e999", "0.5", "inf", "nan"}));
    case 8:
      return text.insert(at,
                         random.pick({"(",      ")",   "[", "]",  ",",  ":", "%",  "/",
                                      "*",      "-",   "+", "=",  "<",  "|", "->", "for ",
                                      "where ", "or ", "#", "\n", "\"", "{", "}",  "\xe2\x86\x92",
                                      "\xff"}));
    default: {
      size_t first = std::min(at, other), last = std::max(at, other);
      return text.insert(last, text.substr(first, last - first));
    }
  }
}

/// Damages a text up to four times.
inline std::string mutated(Random& random, std::string text) {
  for (long n = random.between(1, 4); n > 0; --n) text = mutated_once(random, std::move(text));
  return text;
}

}  // namespace lathe::test
