// draft.cpp: drafts of files and folders, locked by flock(). Interface: draft.h.
#include "data/draft.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

/// Drafts of one path that may exist at a time: as many processes can write it at once.
constexpr int most_drafts = 1000;

std::string name_of(const std::string& path, int number) {
  return fmt::format("{}.lathe{}.tmp", path, number);
}

/// Opens a draft that is there.
int open_existing(const std::string& name, Draft::Kind kind) {
  int flags = kind == Draft::Kind::file ? O_WRONLY | O_NONBLOCK : O_RDONLY | O_DIRECTORY;
  return ::open(name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW);
}

/// Makes a draft that is not there. Fails with EEXIST, as open() does, where there is one.
int open_new(const std::string& name, Draft::Kind kind) {
  if (kind == Draft::Kind::file) {
    return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  return ::mkdir(name.c_str(), 0777) == 0 ? open_existing(name, kind) : -1;
}

/// Is the open file the one at that path, and not one that was there before?
bool is_at(int descriptor, const std::string& name) {
  struct stat open {
  }, there{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(name.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

bool is_own(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid();
}

/// Empties what a killed process left.
bool clear(int descriptor, const std::string& name, Draft::Kind kind) {
  if (kind == Draft::Kind::file) return ::ftruncate(descriptor, 0) == 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(name, error)) {
    fs::remove_all(entry.path(), error);
    if (error) return false;
  }
  return !error;
}

/// Takes the draft of a name, new or left by a killed process. Returns its descriptor; -1 if
/// another process writes it, or it is another user's.
int take(const std::string& name, Draft::Kind kind) {
  int descriptor = open_new(name, kind);
  bool fresh = descriptor >= 0;
  if (!fresh && errno != EEXIST) fail("{}", std::strerror(errno));
  if (!fresh) descriptor = open_existing(name, kind);
  if (descriptor < 0) return -1;
  bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  // Some file systems have no locks: a draft that this process made can be used all the same.
  bool unlockable = !locked && errno != EWOULDBLOCK;
  // Between opening and locking another process may have finished the draft, or taken it.
  bool usable = (fresh && unlockable) || (locked && is_at(descriptor, name));
  if (usable && !fresh) usable = is_own(descriptor) && clear(descriptor, name, kind);
  if (usable) return descriptor;
  ::close(descriptor);
  return -1;
}

void remove(const std::string& name, Draft::Kind kind) {
  std::error_code ignored;
  if (kind == Draft::Kind::file) {
    ::unlink(name.c_str());
  } else {
    fs::remove_all(name, ignored);
  }
}

/// Removes what killed processes left under later numbers.
void remove_abandoned(const std::string& path, int number, Draft::Kind kind) {
  struct stat status {};
  for (std::string name = name_of(path, number); ::lstat(name.c_str(), &status) == 0;
       name = name_of(path, ++number)) {
    int descriptor = take(name, kind);
    if (descriptor < 0) return;
    remove(name, kind);
    ::close(descriptor);
  }
}

}  // namespace

Draft::Draft(const std::string& path, Kind kind, const std::string& shown) : kind_(kind) {
  const char* what = kind == Kind::file ? "" : "the folder ";
  if (path.empty()) fail("cannot write {}'': the name is empty", what);
  try {
    for (int number = 0; number < most_drafts; ++number) {
      descriptor_ = take(name_of(path, number), kind);
      if (descriptor_ < 0) continue;
      path_ = name_of(path, number);
      remove_abandoned(path, number + 1, kind);
      return;
    }
  } catch (const UserError& error) {
    if (descriptor_ < 0) fail("cannot write {}'{}': {}", what, shown, error.what());
    return;  // what was left stays: nothing else is wrong
  }
  fail("cannot write {}'{}': remove '{}.lathe*.tmp' beside it", what, shown, path);
}

Draft::~Draft() {
  // Removed while it is locked: nobody else takes it over in between.
  if (!path_.empty()) remove(path_, kind_);
  ::close(descriptor_);
}

}  // namespace lathe
