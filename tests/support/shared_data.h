// Data that are no part of the project: ../shared/data, seen from its root. Tests that want them
// are skipped where they are absent.
#pragma once

#include <string>

#include "support/repository.h"

namespace lathe::test {

/// Returns the path of a file there, whether it exists or not.
inline std::string shared_data(const std::string& name) {
  return repository_file("../shared/data/" + name);
}

}  // namespace lathe::test
