// Data that are no part of the project: ../shared/data, seen from its root. Tests that want them
// are skipped where they are absent.
#pragma once

#include <filesystem>
#include <string>

namespace lathe::test {

/// Returns the path of a file there, whether it exists or not.
inline std::string shared_data(const std::string& name) {
  std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / ".." / "..";
  return (root / ".." / "shared" / "data" / name).lexically_normal().string();
}

}  // namespace lathe::test
