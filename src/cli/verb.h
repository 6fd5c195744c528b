// The verbs of the command line: one file each. X.cpp defines the verb "lathe X".
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace lathe {

struct Verb {
  std::string name;
  std::string summary;  ///< one line, for "lathe help"
  /// Declares the verb's options on "app" and returns what runs it: the exit status.
  std::function<int()> (*prepare)(CLI::App& app);
};

namespace cli {
/// Returns every verb, sorted by name.
const std::vector<Verb>& all();
}  // namespace cli

}  // namespace lathe
