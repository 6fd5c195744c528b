// verb_long.cpp: what verbs share that take long. Interface: verb_long.h.
#include "cli/verb_long.h"

#include <signal.h>

#include <fstream>
#include <stdexcept>

namespace lathe {
namespace {

/// Set by an interruption: a handler can do no more.
volatile sig_atomic_t interrupted = 0;

/// What a shell takes as it is.
constexpr const char* plain_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";

}  // namespace

void listen_to_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

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

std::optional<Amount> parse_amount(const std::string& text) {
  try {
    size_t end = 0;
    double value = std::stod(text, &end);
    if (value > 0) return Amount{value, text.substr(end)};
  } catch (const std::logic_error&) {
    // It is no number, or one that is too large.
  }
  return std::nullopt;
}

}  // namespace lathe
