// Folders written all or nothing, in which nothing of the user's is lost. Every failure names the
// folder and says why.
//
//   FolderDraft draft("out", bundle_record());     fails if "out" holds what Lathe did not write
//   write_file(draft.file("a"), ...);
//   write_file(draft.file("bundle.json"), ...);    has the hash of "a"
//   draft.commit();                                fails if "a" changed since it was written
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/draft.h"

namespace lathe {

/// The hash of each file (data/file.h), by its name in a folder: "library/model.h".
using FileHashes = std::map<std::string, std::string>;

/// How a folder says what Lathe wrote in it.
struct FolderRecord {
  std::string kind;  ///< of folder: "bundle"
  std::string file;  ///< that says it: "bundle.json"
  /// Reads what the file in a folder says. Fails where it is something else.
  FileHashes (*read)(const std::string& folder);
};

/// A file that is not what was written.
struct FileChange {
  enum class Kind { missing, changed };
  std::string name;
  Kind kind;
};

/// Returns the files that are not what was written.
std::vector<FileChange> changes_in(const std::string& folder, const FileHashes& written);

/// Fails unless the folder can be written: it must be new, or empty, or hold what an earlier run
/// wrote, as that wrote it. Files of others may lie beside.
void check_replaceable(const std::string& folder, const FolderRecord& record);

/// A new folder beside the one that it becomes; it is removed unless it was committed.
class FolderDraft {
 public:
  /// Begins a folder. Fails as check_replaceable() does.
  FolderDraft(const std::string& path, FolderRecord record);

  /// Returns the path of a file in it, until it is committed.
  std::string file(const std::string& name) const { return draft_.path() + "/" + name; }

  /// Puts the draft at the path, in one step where the file system can. Of a folder that was there,
  /// what Lathe wrote is replaced, and what others put there is kept. Fails where a file of others
  /// is in the way.
  void commit();

 private:
  std::string shown_, path_;
  FolderRecord record_;
  Draft draft_;
};

/// Returns the folder for temporary files, which TMPDIR names. Fails where it is not there.
std::string temporary_place();

/// A folder in that one for files that nobody needs later; it is removed at the end.
class TemporaryFolder {
 public:
  /// Makes the folder. Its name begins with "name".
  explicit TemporaryFolder(const std::string& name);

  /// Returns the path of a file in it.
  std::string file(const std::string& name) const { return draft_.path() + "/" + name; }

 private:
  Draft draft_;
};

}  // namespace lathe
