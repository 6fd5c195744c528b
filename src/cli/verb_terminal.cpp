// verb_terminal.cpp: what reaches a terminal. Interface: verb_terminal.h.
//
// All that Lathe prints goes through two streams. They are replaced by streams of the same name
// that make their text printable, so no place that prints a name can forget it.
#include "cli/verb_terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/printable.h"

namespace lathe {
namespace {

/// A stream that makes printable what it writes.
struct SafeStream {
  int descriptor;
  Printable printable;
};

/// Writes as fopencookie() wants it: returns 0 where that fails.
ssize_t write_safely(void* cookie, const char* bytes, size_t size) {
  auto& stream = *static_cast<SafeStream*>(cookie);
  std::string text = stream.printable.next({bytes, size});
  for (size_t done = 0; done < text.size();) {
    ssize_t written = ::write(stream.descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return 0;
    done += static_cast<size_t>(written);
  }
  return static_cast<ssize_t>(size);
}

/// Opens a stream; "stream" must live as long as the program.
FILE* open_safely(SafeStream& stream, int buffering) {
  FILE* file = ::fopencookie(&stream, "w", {nullptr, write_safely, nullptr, nullptr});
  if (file != nullptr) std::setvbuf(file, nullptr, buffering, BUFSIZ);
  return file;
}

}  // namespace

void print_safely() {
  static SafeStream output{STDOUT_FILENO, Printable()}, errors{STDERR_FILENO, Printable("\r")};
  bool terminal = ::isatty(STDOUT_FILENO) != 0;
  FILE* safe_output = open_safely(output, terminal ? _IOLBF : _IOFBF);
  FILE* safe_errors = open_safely(errors, _IONBF);
  if (safe_output != nullptr) stdout = safe_output;
  if (safe_errors != nullptr) stderr = safe_errors;
}

}  // namespace lathe
