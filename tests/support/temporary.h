// A directory for the files of one test, and what tests do with them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lathe::test {

/// Makes a directory of its own under that for temporary files, and removes it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "lathe-test-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "a temporary directory can be made");
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  /// Returns the path of a file in the directory.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file in the directory and returns its path.
  std::string file(const std::string& name, std::string_view content) const {
    // A new file, as to overwrite one makes some file systems wait for the disk.
    std::filesystem::remove(file(name));
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the message of the UserError that "action" fails with; "" where it does not fail.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// Expects that "action" fails with a message that has all of "parts".
template <class Action>
void expect_failure(Action action, std::initializer_list<std::string_view> parts) {
  std::string message = message_of(action);
  for (std::string_view part : parts) {
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << part << "' is not in: " << (message.empty() ? "(no failure)" : message);
  }
}

}  // namespace lathe::test
