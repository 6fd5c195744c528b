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

/// Returns a path for each name. A name that is a path already stays as it is, unless another name
/// needs its place. The paths differ, and none is the beginning of another.
std::vector<std::string> module_paths(const std::vector<std::string>& names);

/// Writes the access to a path: self.layer1[0].conv1.
std::string print_access(const std::string& path);

/// Hands out names of variables, each once.
class VariableNames {
 public:
  /// Names that are "taken" are never handed out.
  explicit VariableNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  /// Returns a name like "name" that is free and that is no keyword of Python.
  std::string unique(const std::string& name);

 private:
  std::set<std::string> taken_;
};

/// Writes a text as a literal of Python, with quotes and escapes.
std::string print_python(const std::string& text);

}  // namespace lathe
