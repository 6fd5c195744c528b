// verb_tuned.cpp: how code may be chosen. Interface: verb_tuned.h.
#include "cli/verb_tuned.h"

#include "compile/tuned.h"

namespace lathe {

void add_tuned_arguments(Command& app, TunedArguments& arguments) {
  app.add_flag("--no-tuned", arguments.ignored, "ignore what 'lathe tune' found");
}

void add_error_argument(Command& app, double& max_error) {
  app.add_option("--max-error", max_error,
                 "use no steps that round more, as a multiple of the outputs' root mean square; 0 "
                 "means no such step")
      ->check(non_negative_number());
}

Chooser choices_for(const TunedArguments& arguments, const Target& target, int threads) {
  if (arguments.ignored) return nullptr;
  return tuned_choices(tuned_path(), target, threads, [](const std::string& what) {
    fmt::print(stderr, "lathe: warning: {}\n", what);
  });
}

LayoutChooser layouts_for(const TunedArguments& arguments, const Target& target, int threads) {
  return arguments.ignored ? nullptr : tuned_layouts(tuned_path(), target, threads);
}

}  // namespace lathe
