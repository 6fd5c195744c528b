// verb_long.cpp: what verbs share that take long. Interface: verb_long.h.
#include "cli/verb_long.h"

#include <signal.h>

#include <stdexcept>

namespace lathe {
namespace {

/// Set by an interruption: a handler can do no more.
volatile sig_atomic_t interrupted = 0;

}  // namespace

void listen_to_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

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
