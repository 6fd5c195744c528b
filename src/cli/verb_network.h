// What the verbs about a network share: the options that say which one, and how it is shown.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "jobs/network_source.h"
#include "onnx/onnx.h"

namespace lathe {

/// Declares NETWORK and its options on "app".
void add_network_arguments(Command& app, NetworkArguments& arguments);

/// Prints a large number shortly: 118.0 M.
std::string print_short(long n);

/// Shows on a terminal how far long work has come, and nothing elsewhere. Clears up behind itself.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(size_t done, size_t all);
  /// Makes way for another line; show() brings it back.
  void clear();

 private:
  std::string what_;
  bool is_terminal_;
  size_t shown_ = 0;
};

}  // namespace lathe
