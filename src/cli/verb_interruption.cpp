// verb_interruption.cpp: Ctrl-C. Interface: verb_interruption.h.
#include "cli/verb_interruption.h"

#include <signal.h>

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

}  // namespace lathe
