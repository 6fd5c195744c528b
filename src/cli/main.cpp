// main.cpp: the program lathe. Finds the verb, runs it, and turns errors into messages.
//
// Exit status: 0 done, 1 refused or not found, 2 wrong input, 3 a bug of ours, 4 its output could
// not be written, 130 interrupted (Ctrl-C). README.md has the table.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/printable.h"
#include "cli/verb.h"
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

/// Parses the command line and runs its verb.
int run_command(int argc, char** argv) {
  CLI::App app{"Lathe: a neural-network compiler that is allowed to change the network"};
  app.name("lathe");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("lathe {}", lathe_version()));
  app.failure_message(CLI::FailureMessage::simple);
  std::function<int()> run;
  bool known = argc < 2 || argv[1][0] == '-';
  for (const Verb& verb : cli::all()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    std::function<int()> action = verb.prepare(*sub);
    sub->callback([&run, action] { run = action; });
    known = known || verb.name == argv[1];
  }
  if (!known) fail("no verb '{}'; 'lathe help' lists them", argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& error) {
    return app.exit(error);
  } catch (const CLI::CallForVersion& error) {
    return app.exit(error);
  } catch (const CLI::ParseError& error) {
    fail("{}\nTry 'lathe help'.", error.what());
  }
  return run();
}

/// Runs the command; says what is wrong. Returns the exit status.
int run_and_tell(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const UserError& error) {
    tell(error.what());
    if (is_interrupted()) return interrupted_status;
  } catch (const std::bad_alloc&) {
    tell("there is not enough memory for this");
  } catch (const std::filesystem::filesystem_error& error) {
    tell(fmt::format("'{}': {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    // To print fails in this way; see finished().
    if (std::ferror(stdout) == 0) tell(error.what());
  } catch (const std::exception& error) {
    tell(fmt::format("{}\nThis is a bug in Lathe; please report it with the command.",
                     error.what()));
    return own_bug;
  }
  return wrong_input;
}

/// Returns the exit status of a command that ended with "status": another one if what it printed
/// was not written.
int finished(int status) {
  errno = 0;
  std::cout.flush();  // help is printed there
  bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written) return status;
  const char* reason = errno != 0 ? std::strerror(errno) : "a write failed";
  tell(fmt::format("cannot write to standard output: {}", reason));
  return not_written;
}

}  // namespace
}  // namespace lathe

int main(int argc, char** argv) {
  lathe::open_standard_files();
  lathe::print_safely();
  return lathe::finished(lathe::run_and_tell(argc, argv));
}
