// file.cpp: files as bytes, by POSIX calls: pread() needs no shared position, and rename() replaces
// a file in one step. Interface: file.h.
#include "data/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "data/draft.h"

namespace lathe {
namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  fail("cannot write '{}': {}", path, std::strerror(error));
}

void append(const Draft& draft, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t written = ::write(draft.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

/// Says what is at a path that is no regular file.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void check_is_regular(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  fail("cannot read '{}': it is {}, not a regular file", path, kind_of(status.st_mode));
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) check_is_regular(path_, status);
  // Not to wait for a writer, should the path have become a pipe since.
  int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
  descriptor_ = std::shared_ptr<const int>(new int(descriptor), [](const int* owned) {
    ::close(*owned);
    delete owned;
  });
  if (::fstat(descriptor, &status) != 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
  check_is_regular(path_, status);
  size_ = status.st_size;
}

std::vector<std::byte> InputFile::read(long offset, long count) const {
  check(offset >= 0 && count >= 0 && count <= size_ - offset, "a part is inside its file");
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (long done = 0; done < count;) {
    ssize_t part = ::pread(*descriptor_, bytes.data() + done, static_cast<size_t>(count - done),
                           offset + done);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
    if (part == 0) fail("cannot read '{}': it became shorter while it was read", path_);
    done += part;
  }
  return bytes;
}

std::string read_file(const std::string& path) {
  InputFile file(path);
  std::vector<std::byte> bytes = file.read(0, file.size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    fail("cannot write '{}': it is {}, not a regular file", path, kind_of(status.st_mode));
  }
  Draft draft(path, Draft::Kind::file, path);
  for (std::span<const std::byte> part : parts) append(draft, part, path);
  if (::fsync(draft.descriptor()) != 0) fail_to_write(path, errno);
  // While it is still locked: nobody else takes it over in between.
  if (std::rename(draft.path().c_str(), path.c_str()) != 0) fail_to_write(path, errno);
  draft.release();
}

std::string hash_of_file(const std::string& path) {
  // Weights may be hundreds of megabytes: words at a time.
  constexpr long part = 8 << 20;
  InputFile file(path);
  uint64_t hash = static_cast<uint64_t>(file.size());
  for (long at = 0; at < file.size(); at += part) {
    std::vector<std::byte> bytes = file.read(at, std::min(part, file.size() - at));
    bytes.resize((bytes.size() + 7) / 8 * 8);
    for (size_t i = 0; i < bytes.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace lathe
