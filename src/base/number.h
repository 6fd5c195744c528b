// Numbers in texts.
//
//   number_in<long>("12")      12
//   number_in<long>("12 MB")   nothing
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace lathe {

/// Reads a number; returns nothing unless the whole text is one that "Number" can hold.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || next != end) return std::nullopt;
  return value;
}

}  // namespace lathe
