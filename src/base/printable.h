// Text that a terminal shows and does not obey: names come from files of others.
//
//   printable("a\x1b[2Jb")      a\u001b[2Jb, as JSON has it
#pragma once

#include <string>
#include <string_view>

namespace lathe {

/// Makes text printable, part by part: control characters become \uNNNN. Ends of lines and tabs
/// stay; so does all that is no control character, whatever its encoding. JSON stays JSON.
class Printable {
 public:
  /// "obeyed": control characters that stay, for a program that writes them itself: "\r".
  explicit Printable(std::string obeyed = "") : obeyed_(std::move(obeyed)) {}

  /// Returns what to print for the next part of a text.
  std::string next(std::string_view part);

 private:
  std::string obeyed_;
  bool after_c2_ = false;  ///< is a byte due that may make a control character of two bytes?
};

/// Makes a whole text printable.
std::string printable(std::string_view text);

}  // namespace lathe
