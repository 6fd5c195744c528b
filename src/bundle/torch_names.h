// Names of layers and values as Python can write them.
//
//   "layer1.0.conv1"  is the module path layer1.0.conv1, written self.layer1[0].conv1
//   "/block/Conv.0"   is the module path block_Conv.0, written self.block_Conv[0]
//
// A path is a place in a tree of modules, and no path ends inside another.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace lathe {

/// Returns paths for names: those that are paths stay as they are where no other needs the place.
/// The paths differ, and none is the beginning of another.
std::vector<std::string> module_paths(const std::vector<std::string>& names);

/// Writes the access to a path: self.layer1[0].conv1.
std::string print_access(const std::string& path);

/// Hands out names of variables, each once.
class VariableNames {
 public:
  /// Returns a name like "name" that is no word of the language, is not "taken" and was not handed
  /// out before.
  explicit VariableNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  std::string unique(const std::string& name);

 private:
  std::set<std::string> taken_;
};

/// Writes a text as Python does: "it's" with quotes, escaped.
std::string print_python(const std::string& text);

}  // namespace lathe
