// The folder of a search. One that could not begin leaves nothing behind.
//
//   WorkFolder folder(work_folder_of("../x/model.onnx"));   runs/model.onnx
//   Journal journal(folder.path(), ...);                    makes what is not there
//   ...                                                     what fails here removes it again
//   folder.keep();
#pragma once

#include <string>
#include <vector>

namespace lathe {

/// Returns where a search of this network is kept unless the user says: always a folder in runs/.
std::string work_folder_of(const std::string& network);

/// A folder that is about to be made, and what was there before.
class WorkFolder {
 public:
  /// Notes what is there. Nothing is made: Journal does that.
  explicit WorkFolder(std::string path);
  /// Removes what was made since, unless it is to be kept.
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const { return path_; }
  void keep() { is_kept_ = true; }

 private:
  std::string path_;
  bool is_kept_ = false;
  std::vector<std::string> new_files_, new_folders_;  // those that were not there; inner ones first
};

}  // namespace lathe
