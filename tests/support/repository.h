// Files of the project that tests read.
#pragma once

#include <filesystem>
#include <string>

namespace lathe::test {

/// Returns the project's root folder, as it was when the tests were built.
std::filesystem::path repository_root();

/// Returns the path of a file, seen from the project's root.
inline std::string repository_file(const std::string& name) {
  return (repository_root() / name).lexically_normal().string();
}

}  // namespace lathe::test
