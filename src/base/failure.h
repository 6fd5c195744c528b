// What went wrong, for whoever cannot let an exception pass: a program, a function for C.
//
//   try { work(); } catch (...) { Failure failure = current_failure(); ... }
#pragma once

#include <string>

namespace lathe {

struct Failure {
  enum class Kind {
    input,   ///< wrong input, or something is missing
    system,  ///< the system refused something: a file, a thread
    bug,     ///< ours
  };
  Kind kind;
  std::string message;
};

/// Says what the exception is that is being handled. Call it in a catch block.
Failure current_failure();

}  // namespace lathe
