// Drafts: new files and folders, written beside the place that they will take. Private to this
// folder.
//
//   Draft draft("out.npy", Draft::Kind::file, "out.npy");
//   ... write to draft.descriptor(), rename draft.path() to "out.npy" ...
//   draft.release();
//
// A draft is locked while it is open. What a killed process left is locked by nobody: the next
// process that writes the same path takes it over, or removes it.
#pragma once

#include <string>

namespace lathe {

class Draft {
 public:
  enum class Kind { file, folder };

  /// Makes an empty draft for "path". Fails if it cannot; the message calls the path "shown".
  Draft(const std::string& path, Kind kind, const std::string& shown);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  /// Removes the draft, unless it was released.
  ~Draft();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }

  /// Says that the draft was renamed to the path that it is for: nothing is left to remove.
  void release() { path_.clear(); }

 private:
  Kind kind_;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace lathe
