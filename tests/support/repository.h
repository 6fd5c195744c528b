// Files of the project that tests read.
#pragma once

#include <filesystem>
#include <string>

namespace lathe::test {

/// Returns the path of a file, seen from the project's root.
inline std::string repository_file(const std::string& name) {
  std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / ".." / "..";
  return (root / name).lexically_normal().string();
}

}  // namespace lathe::test
