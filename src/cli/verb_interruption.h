// What verbs share that take long: Ctrl-C ends them in good order.
#pragma once

namespace lathe {

/// The exit status of a verb that was interrupted: what shells say of SIGINT.
constexpr int interrupted_status = 130;

/// From now on the first interruption (Ctrl-C) is noted and the second ends the program.
void listen_to_interruptions();

/// Was there an interruption?
bool is_interrupted();

}  // namespace lathe
