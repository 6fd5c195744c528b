// main.cpp: the program lathe. Finds the verb, runs it, and turns errors into messages.
//
// Exit status: 0 done, 1 a step was refused, 2 wrong input, 3 a bug of ours, 130 interrupted
// (Ctrl-C).
#include "base/error.h"
#include "cli/verb.h"
#include "cli/verb_interruption.h"
#include "compile/embedded.h"

int main(int argc, char** argv) {
  CLI::App app{"Lathe: a neural-network compiler that is allowed to change the network"};
  app.name("lathe");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("lathe {}", lathe::lathe_version()));
  app.failure_message(CLI::FailureMessage::simple);
  std::function<int()> run;
  bool known = argc < 2 || argv[1][0] == '-';
  for (const lathe::Verb& verb : lathe::cli::all()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    std::function<int()> action = verb.prepare(*sub);
    sub->callback([&run, action] { run = action; });
    known = known || verb.name == argv[1];
  }
  if (!known) {
    fmt::print(stderr, "lathe: no verb '{}'; 'lathe help' lists them\n", argv[1]);
    return 2;
  }
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::CallForHelp& error) {
    return app.exit(error);
  } catch (const CLI::CallForVersion& error) {
    return app.exit(error);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "lathe: {}\nTry 'lathe help'.\n", error.what());
    return 2;
  } catch (const lathe::UserError& error) {
    fmt::print(stderr, "lathe: {}\n", error.what());
    return lathe::is_interrupted() ? lathe::interrupted_status : 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lathe: there is not enough memory for this\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lathe: {}\nThis is a bug in Lathe; please report it with the command.\n",
               error.what());
    return 3;
  }
}
