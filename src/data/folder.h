// A folder written all or nothing. Every failure names the folder and says why.
//
//   FolderDraft draft("out");
//   write_file(draft.file("a"), ...);
//   draft.commit({"a"});
#pragma once

#include <string>
#include <vector>

namespace lathe {

/// A new folder beside the one that it becomes; it is removed unless it was committed.
class FolderDraft {
 public:
  explicit FolderDraft(const std::string& path);
  FolderDraft(const FolderDraft&) = delete;
  FolderDraft& operator=(const FolderDraft&) = delete;
  ~FolderDraft();

  /// Returns the path of a file in it, until it is committed.
  std::string file(const std::string& name) const { return draft_ + "/" + name; }

  /// Puts the draft at the path, in one step where the file system can. A folder that was there is
  /// replaced; what is in it and is not among "names" is kept.
  void commit(const std::vector<std::string>& names);

 private:
  std::string path_, draft_;
};

}  // namespace lathe
