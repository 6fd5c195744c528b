// What the verbs that compile share: how code may be chosen.
#pragma once

#include "cli/verb.h"
#include "compile/compile.h"

namespace lathe {

struct TunedArguments {
  bool ignored = false;
  double max_error = any_error;
};

/// Declares --max-error on "app".
void add_error_argument(Command& app, double& max_error);

/// Declares --no-tuned on "app".
void add_tuned_arguments(Command& app, TunedArguments& arguments);

/// Returns the choices that were kept for a target and so many workers, unless they are ignored. A
/// file that cannot be read is a warning.
Chooser choices_for(const TunedArguments& arguments, const Target& target, int threads);

/// Returns the layouts that were kept, in the same way.
LayoutChooser layouts_for(const TunedArguments& arguments, const Target& target, int threads);

}  // namespace lathe
