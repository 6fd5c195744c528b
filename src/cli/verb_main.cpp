// verb_main.cpp: the program lathe: lathe_main() finds the verb, runs it, and turns errors into
// messages.
//
// Exit status: 0 done, 1 refused or not found, 2 wrong input, 3 a bug of ours, 4 its output could
// not be written, 130 interrupted (Ctrl-C). README.md has the table.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/failure.h"
#include "base/printable.h"
#include "calls/lathe.h"
#include "cli/verb_help.h"
#include "cli/verb_interruption.h"
#include "cli/verb_terminal.h"
#include "compile/embedded.h"

namespace lathe {
namespace {

constexpr int wrong_input = 2, own_bug = 3, not_written = 4;

/// Prints a message. Nothing can be done if that fails, too.
void tell(const std::string& message) {
  std::fflush(stdout);
  std::fputs(("lathe: " + printable(message) + "\n").c_str(), stderr);
}

/// Opens the standard files that the caller closed: else the next file that is opened would take
/// the place of one, and be printed to. What is opened here can only be read: to print is an error.
void open_standard_files() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

/// Runs the verb that the words behind "lathe" begin with.
int run_command(std::vector<std::string> words) {
  if (words.empty()) fail("say what to do: lathe VERB ...; 'lathe help' lists the verbs");
  if (words[0] == "--version") {
    fmt::print("lathe {}\n", lathe_version());
    return 0;
  }
  if (words[0] == "-h" || words[0] == "--help") words[0] = "help";
  const Verb& verb = cli::find_verb(words[0]);
  Command command(verb.name);
  std::function<int()> run = verb.set_up(command);
  try {
    command.parse({words.begin() + 1, words.end()});
  } catch (const UsageError& error) {
    fail("{}\n'lathe help {}' explains the options.", error.what(), verb.name);
  }
  if (!command.wants_help()) return run();
  fmt::print("{}", cli::print_help(verb));
  return 0;
}

/// Runs the command; says what is wrong. Returns the exit status.
int run_and_tell(int argc, char** argv) {
  try {
    return run_command({argv + std::min(argc, 1), argv + argc});
  } catch (...) {
    using Kind = Failure::Kind;
    Failure failure = current_failure();
    // To print fails as the system does; see finished().
    bool is_print = failure.kind == Kind::system && std::ferror(stdout) != 0;
    if (failure.kind == Kind::bug) {
      failure.message += "\nThis is a bug in Lathe; please report it with the command.";
    }
    if (!is_print) tell(failure.message);
    if (failure.kind == Kind::input && is_interrupted()) return interrupted_status;
    return failure.kind == Kind::bug ? own_bug : wrong_input;
  }
}

/// Returns the exit status of a command that ended with "status": another one if what it printed
/// was not written.
int finished(int status) {
  errno = 0;
  bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written) return status;
  const char* reason = errno != 0 ? std::strerror(errno) : "a write failed";
  tell(fmt::format("cannot write to standard output: {}", reason));
  return not_written;
}

}  // namespace
}  // namespace lathe

int lathe_main(int argc, char** argv) {
  lathe::open_standard_files();
  lathe::print_safely();
  return lathe::finished(lathe::run_and_tell(argc, argv));
}
