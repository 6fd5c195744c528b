// Work in a process of its own: what crashes or hangs there ends that process alone.
#pragma once

#include <functional>
#include <string>

namespace lathe {

struct Outcome {
  std::string result;   ///< what the work returned
  std::string failure;  ///< why it did not: "" if it did
};

/// Runs "work" in a child of this process, for so many seconds at most. This process must have no
/// other threads. The child ends when this process does, and ignores Ctrl-C.
Outcome isolated(const std::function<std::string()>& work, double seconds);

}  // namespace lathe
