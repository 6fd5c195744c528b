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

namespace lathe {
namespace {

/// A temporary file beside the one to write; it is removed unless it was renamed.
struct Draft {
  std::string path;
  int descriptor = -1;

  Draft() = default;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (descriptor >= 0) ::close(descriptor);
    if (!path.empty()) ::unlink(path.c_str());
  }
};

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  fail("cannot write '{}': {}", path, std::strerror(error));
}

/// Opens a file of a name that no other file has, beside "path".
void open_draft(Draft& draft, const std::string& path) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string name = fmt::format("{}.{}-{}.tmp", path, ::getpid(), attempt);
    draft.descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (draft.descriptor >= 0) {
      draft.path = name;
      return;
    }
    if (errno != EEXIST) fail_to_write(path, errno);
  }
  fail("cannot write '{}': remove the files '{}.*.tmp' beside it", path, path);
}

void append(const Draft& draft, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t written = ::write(draft.descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Not to wait for a writer, should the path be a pipe.
  int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
  descriptor_ = std::shared_ptr<const int>(new int(descriptor), [](const int* owned) {
    ::close(*owned);
    delete owned;
  });
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("cannot read '{}': it is a directory, not a file", path_);
  if (!S_ISREG(status.st_mode)) fail("cannot read '{}': it is not a regular file", path_);
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

void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    fail("cannot write '{}': it is {}", path,
         S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
  }
  Draft draft;
  open_draft(draft, path);
  for (std::span<const std::byte> part : parts) append(draft, part, path);
  if (::fsync(draft.descriptor) != 0) fail_to_write(path, errno);
  if (::close(std::exchange(draft.descriptor, -1)) != 0) fail_to_write(path, errno);
  if (std::rename(draft.path.c_str(), path.c_str()) != 0) fail_to_write(path, errno);
  draft.path.clear();
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
