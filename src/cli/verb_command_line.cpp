// verb_command_line.cpp: the command that this is. Interface: verb_command_line.h.
#include "cli/verb_command_line.h"

#include <fstream>

namespace lathe {
namespace {

/// What a shell takes as it is.
constexpr const char* plain_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text = "lathe", word;
  std::getline(file, word, '\0');  // how the program was called
  while (std::getline(file, word, '\0')) {
    bool plain = !word.empty() && word.find_first_not_of(plain_letters) == std::string::npos;
    std::string quoted;
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += plain ? " " + word : " '" + quoted + "'";
  }
  return text;
}

}  // namespace lathe
