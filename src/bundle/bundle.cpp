// bundle.cpp: the folder that a search hands over. Interface: bundle.h.
#include "bundle/bundle.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/random.h"
#include "bundle/torch.h"
#include "compile/embedded.h"
#include "compile/library.h"
#include "data/file.h"
#include "data/folder.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

constexpr int bundle_version = 1;
constexpr const char* version_key = "lathe_bundle";
constexpr const char *library = "library", *page = "report.html";
const std::vector<std::string> files = {"model.onnx", "model.py", "model.npz", "winner.recipe"};

void write_text(const std::string& file, const std::string& text) {
  write_file(file, {std::as_bytes(std::span(text))});
}

/// Returns the files of a bundle, without bundle.json, by their names in it.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names = files;
  if (std::filesystem::exists(folder + "/" + page)) names.emplace_back(page);
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + library)) {
    names.push_back(std::string(library) + "/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string hash_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return fmt::format("{:016x}", hash_bytes(bytes));
}

}  // namespace

void write_bundle(const Bundle& bundle, const std::string& folder) {
  FolderDraft draft(folder);
  write_library(bundle.compiled, draft.file(library));
  write_text(draft.file("model.onnx"), export_onnx(bundle.graph));
  write_torch(bundle.graph, draft.file("model.py"));
  nlohmann::json recipe = to_json(bundle.recipe);
  if (!bundle.made.is_null()) recipe["made"] = bundle.made;
  write_text(draft.file("winner.recipe"), recipe.dump(1) + "\n");
  if (!bundle.report.empty()) std::filesystem::copy_file(bundle.report, draft.file(page));
  nlohmann::json json = bundle.about;
  json[version_key] = bundle_version;
  json["lathe"] = lathe_version();
  std::string place = draft.file("");
  for (const std::string& name : files_of(place)) json["files"][name] = hash_of(place + name);
  write_text(draft.file("bundle.json"), json.dump(1) + "\n");
  std::vector<std::string> names = files;
  names.insert(names.end(), {library, page, "bundle.json"});
  draft.commit(names);
}

nlohmann::json read_bundle(const std::string& folder) {
  std::string path = folder + "/bundle.json";
  std::ifstream file(path);
  if (!file) fail("'{}' is no bundle: it has no bundle.json", folder);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  bool is_bundle = json.is_object() && json.contains(version_key) &&
                   json[version_key].is_number_integer() && json.contains("files") &&
                   json["files"].is_object();
  if (!is_bundle) fail("'{}' is not what Lathe writes", path);
  if (json[version_key].get<int>() > bundle_version) {
    fail("'{}' was written by a later version of Lathe, {}", path,
         json.value("lathe", nlohmann::json("?")).dump());
  }
  return json;
}

std::vector<std::string> changed_files(const std::string& folder) {
  std::vector<std::string> wrong;
  const nlohmann::json bundle = read_bundle(folder);
  for (const auto& [name, hash] : bundle["files"].items()) {
    std::string path = folder + "/" + name;
    if (!std::filesystem::exists(path)) {
      wrong.push_back(name + " is missing");
    } else if (hash_of(path) != hash) {
      wrong.push_back(name + " is not what was written");
    }
  }
  return wrong;
}

}  // namespace lathe
