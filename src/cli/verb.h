// The verbs of the command line: one file each. X.cpp defines the verb "lathe X".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/verb_command.h"

namespace lathe {

struct Verb {
  std::string name;
  std::string summary;  ///< one line, for "lathe help"
  /// Declares the verb's options on "app" and returns what runs it: the exit status.
  std::function<int()> (*set_up)(Command& app);
  std::string example;  ///< a command that works, as it is typed: "lathe run resnet18 ..."
};

namespace cli {
/// Returns every verb, sorted by name.
const std::vector<Verb>& all();
}  // namespace cli

}  // namespace lathe
