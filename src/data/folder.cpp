// folder.cpp: a folder written all or nothing. Interface: folder.h.
#include "data/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  fail("cannot write the folder '{}': {}", path, std::strerror(error));
}

/// Renames, and fails with the name of the folder that is written.
void move_to(const fs::path& from, const fs::path& to, const std::string& path) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_to_write(path, errno);
}

}  // namespace

FolderDraft::FolderDraft(const std::string& path) {
  // Through links, to the folder itself; the end of "out/" is no name.
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path), error);
  if (error) fail_to_write(path, error.value());
  if (!real.has_filename()) real = real.parent_path();
  path_ = real.string();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string name = fmt::format("{}.{}-{}.tmp", path_, ::getpid(), attempt);
    if (::mkdir(name.c_str(), 0777) == 0) {
      draft_ = name;
      return;
    }
    if (errno != EEXIST) fail_to_write(path, errno);
  }
  fail("cannot write the folder '{}': remove '{}.*.tmp' beside it", path, path_);
}

FolderDraft::~FolderDraft() {
  std::error_code ignored;
  if (!draft_.empty()) fs::remove_all(draft_, ignored);
}

void FolderDraft::commit(const std::vector<std::string>& names) {
  if (!fs::exists(path_)) {
    move_to(draft_, path_, path_);
    draft_.clear();
    return;
  }
  std::string old = draft_;
  if (::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
    // Some file systems cannot exchange two folders.
    old = draft_ + ".old";
    move_to(path_, old, path_);
    if (std::rename(draft_.c_str(), path_.c_str()) != 0) {
      int error = errno;
      move_to(old, path_, path_);
      fail_to_write(path_, error);
    }
  }
  draft_.clear();
  std::vector<fs::path> kept;
  for (const fs::directory_entry& entry : fs::directory_iterator(old)) {
    std::string name = entry.path().filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) kept.push_back(entry.path());
  }
  for (const fs::path& entry : kept) move_to(entry, fs::path(path_) / entry.filename(), path_);
  std::error_code ignored;
  fs::remove_all(old, ignored);
}

}  // namespace lathe
