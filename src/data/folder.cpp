// folder.cpp: folders written all or nothing. Interface: folder.h.
//
// What others put into a folder is linked into the draft before the two are exchanged. At any
// moment the path has it, so a draft that a killed process left can be removed without a look.
#include "data/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "data/file.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  fail("cannot write the folder '{}': {}", path, std::strerror(error));
}

/// Returns the folder itself, through links; the end of "out/" is no name.
std::string real_path(const std::string& path) {
  if (path.empty()) fail("cannot write the folder '': the name is empty");
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) fail_to_write(path, error.value());
  if (!real.has_filename()) real = real.parent_path();
  return real.string();
}

/// Where a folder stands aside for a moment, if two cannot be exchanged.
std::string aside(const std::string& path) { return path + ".lathe.old"; }

/// Puts back what a killed process left aside, or removes it where it was replaced.
void restore(const std::string& path, const std::string& shown) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(aside(path), error))) return;
  if (fs::exists(fs::symlink_status(path, error))) {
    fs::remove_all(aside(path), error);
  } else if (std::rename(aside(path).c_str(), path.c_str()) != 0) {
    fail_to_write(shown, errno);
  }
}

/// Restores a folder, then returns where it is.
std::string restored(const std::string& path) {
  std::string real = real_path(path);
  restore(real, path);
  return real;
}

bool holds_something(const std::string& folder) {
  std::error_code error;
  fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) fail_to_write(folder, error.value());
  if (!fs::is_directory(status)) fail("cannot write the folder '{}': it is a file", folder);
  bool empty = fs::is_empty(folder, error);
  if (error) fail("cannot read the folder '{}': {}", folder, error.message());
  return !empty;
}

/// Returns what an earlier run wrote in a folder; fails if that is not all as it was written, or if
/// there was no such run.
FileHashes read_record(const std::string& folder, const FolderRecord& record) {
  FileHashes written;
  try {
    std::error_code ignored;
    if (!fs::exists(fs::path(folder) / record.file, ignored)) fail("it has no {}", record.file);
    written = record.read(folder);
  } catch (const UserError& reason) {
    fail("'{}' is not replaced, as it is no {}: {}; name another folder", folder, record.kind,
         reason.what());
  }
  for (const FileChange& change : changes_in(folder, written)) {
    if (change.kind == FileChange::Kind::missing) continue;
    fail(
        "'{}' is not replaced: '{}' in it was changed after Lathe wrote it; move that folder away, "
        "or name another one",
        folder, change.name);
  }
  return written;
}

/// Links a file to another name; copies it where the file system has no links.
void link_file(const fs::path& from, const fs::path& to, const std::string& folder) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) == 0) return;
  std::error_code error;
  fs::copy(from, to, fs::copy_options::copy_symlinks, error);
  if (error) fail_to_write(folder, error.value());
}

/// Gives a draft what others put into a folder.
void keep_others(const std::string& folder, const std::string& draft, const FileHashes& written,
                 const std::string& record) try {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string name = entry.path().lexically_relative(folder).string();
    fs::path to = fs::path(draft) / name;
    bool taken = fs::exists(fs::symlink_status(to));
    if (entry.is_directory() && !entry.is_symlink()) {
      if (!taken) fs::create_directory(to, entry.path());  // with its permissions
      if (!taken || fs::is_directory(to)) continue;
    } else if (written.contains(name) || name == record) {
      continue;
    }
    if (taken) {
      fail("'{}' is not replaced: Lathe did not write '{}' in it; move it, or name another folder",
           folder, name);
    }
    link_file(entry.path(), to, folder);
  }
} catch (const fs::filesystem_error& error) {
  fail_to_write(folder, error.code().value());
}

/// A lock on a folder, where there are locks: nobody takes it for what a killed process left.
class FolderLock {
 public:
  FolderLock(const std::string& path, const std::string& shown)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    bool busy = errno == EWOULDBLOCK;
    if (busy) ::close(descriptor_);
    if (busy) fail("cannot write the folder '{}': another process does at the moment", shown);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_;
};

/// Puts the draft in a folder's place. Returns where the old one is then.
std::string exchange(const std::string& draft, const std::string& path, const std::string& shown) {
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    return draft;
  }
  // Some file systems cannot exchange two folders.
  if (std::rename(path.c_str(), aside(path).c_str()) != 0) fail_to_write(shown, errno);
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    int error = errno;
    restore(path, shown);
    fail_to_write(shown, error);
  }
  return aside(path);
}

}  // namespace

std::string temporary_place() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (!error) return folder.string();
  const char* told = std::getenv("TMPDIR");
  fail("there is no folder '{}' for temporary files: set TMPDIR to one that is there",
       told == nullptr ? "/tmp" : told);
}

std::vector<FileChange> changes_in(const std::string& folder, const FileHashes& written) {
  std::vector<FileChange> changes;
  for (const auto& [name, hash] : written) {
    std::string path = (fs::path(folder) / name).string();
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path, ignored))) {
      changes.push_back({name, FileChange::Kind::missing});
      continue;
    }
    std::string is;
    try {
      is = hash_of_file(path);
    } catch (const UserError&) {
      // It is there and cannot be read: it is something else now.
    }
    if (is != hash) changes.push_back({name, FileChange::Kind::changed});
  }
  return changes;
}

void check_replaceable(const std::string& folder, const FolderRecord& record) {
  std::string path = restored(folder);
  if (holds_something(folder)) read_record(folder, record);
  Draft draft(path, Draft::Kind::folder, folder);  // can it be written?
}

FolderDraft::FolderDraft(const std::string& path, FolderRecord record)
    : shown_(path),
      path_(restored(path)),
      record_(std::move(record)),
      draft_(path_, Draft::Kind::folder, path) {
  if (holds_something(path)) read_record(path, record_);
}

void FolderDraft::commit() {
  std::error_code ignored;
  if (!fs::exists(path_, ignored)) {
    if (std::rename(draft_.path().c_str(), path_.c_str()) != 0) fail_to_write(shown_, errno);
    draft_.release();
    return;
  }
  FolderLock lock(path_, shown_);
  FileHashes written = holds_something(shown_) ? read_record(shown_, record_) : FileHashes();
  keep_others(shown_, draft_.path(), written, record_.file);
  std::string old = exchange(draft_.path(), path_, shown_);
  draft_.release();
  fs::remove_all(old, ignored);
}

TemporaryFolder::TemporaryFolder(const std::string& name)
    : draft_((fs::path(temporary_place()) / name).string(), Draft::Kind::folder,
             temporary_place()) {}

}  // namespace lathe
