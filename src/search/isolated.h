// Work in a process of its own: what crashes or hangs there ends that process alone.
#pragma once

#include <functional>
#include <string>

namespace lathe {

struct Outcome {
  std::string result;   ///< what the work returned
  std::string failure;  ///< why it returned nothing; "" if it did return
};

/// Runs "work" in a child of this process, for at most so many seconds. This process must have no
/// other threads. The child ends with this process, and ignores Ctrl-C.
Outcome isolated(const std::function<std::string()>& work, double seconds);

}  // namespace lathe
