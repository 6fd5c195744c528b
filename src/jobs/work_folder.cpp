// work_folder.cpp: the folder of a search. Interface: work_folder.h.
#include "jobs/work_folder.h"

#include <algorithm>
#include <filesystem>

#include "search/journal.h"

namespace lathe {

namespace fs = std::filesystem;

std::string work_folder_of(const std::string& network) {
  bool is_file = network.ends_with(".onnx") || network.ends_with(".graph");
  std::string name = is_file ? fs::path(network).filename().string() : network;
  std::replace(name.begin(), name.end(), '/', '_');
  if (name.empty() || name.front() == '.') name.insert(name.begin(), '_');
  return "runs/" + name;
}

WorkFolder::WorkFolder(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  for (const std::string& name : Journal::file_names()) {
    std::string file = path_ + "/" + name;
    if (!fs::exists(file, ignored)) new_files_.push_back(file);
  }
  for (fs::path folder = fs::path(path_); !folder.empty() && !fs::exists(folder, ignored);
       folder = folder.parent_path()) {
    new_folders_.push_back(folder.string());
  }
}

WorkFolder::~WorkFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  for (const std::string& file : new_files_) fs::remove(file, ignored);
  // A folder that holds anything else is not empty, and stays.
  for (const std::string& folder : new_folders_) fs::remove(folder, ignored);
}

}  // namespace lathe
