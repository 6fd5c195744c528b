// Folders that are written all or nothing. A user's own files in them are never lost. Every failure
// names the folder and says why.
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
  std::string kind;  ///< what the folder is: "bundle"
  std::string file;  ///< the file in it that lists what Lathe wrote: "bundle.json"
  /// Reads that file of a folder. Fails if it is something else.
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

/// Fails unless the folder can be replaced. It must be new, or empty, or hold what an earlier run
/// wrote, unchanged. Other files may be in it, too.
void check_replaceable(const std::string& folder, const FolderRecord& record);

/// A new folder beside the one that it becomes; it is removed unless it was committed.
class FolderDraft {
 public:
  /// Begins a folder. Fails as check_replaceable() does.
  FolderDraft(const std::string& path, FolderRecord record);

  /// Returns the path of a file in it, until it is committed.
  std::string file(const std::string& name) const { return draft_.path() + "/" + name; }

  /// Moves the draft to its path, in one step if the file system can do that. In a folder that was
  /// there, what Lathe wrote is replaced and other files are kept. Fails if one of these is in the
  /// way.
  void commit();

 private:
  std::string shown_, path_;
  FolderRecord record_;
  Draft draft_;
};

/// Returns the folder for temporary files, which TMPDIR names. Fails if there is no such folder.
std::string temporary_place();

/// A folder for files that nobody needs later, inside temporary_place(). It is removed when this
/// object ends.
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
