// Files as bytes: read in parts, with a size that is known first, and written all or nothing.
// Every failure names the file and says why.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe {

/// A regular file that is open for reading. Copies share the open file; parts may be read from
/// several threads.
class InputFile {
 public:
  /// Opens a file. Fails where there is none, or it is no regular file: one that is a pipe or a
  /// device is not even opened.
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  /// Returns the bytes that the file had when it was opened.
  long size() const { return size_; }

  /// Reads "count" bytes from "offset" on; they must be inside the file.
  std::vector<std::byte> read(long offset, long count) const;

 private:
  std::string path_;
  std::shared_ptr<const int> descriptor_;
  long size_ = 0;
};

/// Reads a whole file.
std::string read_file(const std::string& path);

/// Writes a file of these bytes, one part after the other. Until all is written the path keeps
/// what it held; a failure leaves nothing behind.
void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts);

/// Returns a hash of a file's bytes, of 16 digits: equal files have equal ones, others do not in
/// practice.
std::string hash_of_file(const std::string& path);

}  // namespace lathe
