// Files as bytes. They are read in parts, and their size is known first. They are written all or
// nothing. Every failure names the file and says why.
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
  /// Opens a file. Fails if there is none. Fails without opening it if it is no regular file but a
  /// pipe or a device.
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  /// Returns how many bytes the file had when it was opened.
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

/// Writes a file of these bytes, one part after the other. The old file stays until all is written;
/// a failure leaves nothing behind.
void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts);

/// Returns a hash of a file's bytes, as 16 digits. Equal files have equal hashes; different files
/// practically never do.
std::string hash_of_file(const std::string& path);

}  // namespace lathe
