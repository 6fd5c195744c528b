// bundle.cpp: the folder that a search hands over. Interface: bundle.h.
#include "bundle/bundle.h"

#include <filesystem>

#include "base/error.h"
#include "bundle/torch.h"
#include "compile/embedded.h"
#include "compile/library.h"
#include "data/file.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

constexpr int bundle_version = 2;
constexpr const char* version_key = "lathe_bundle";
constexpr const char *library = "library", *page = "report.html", *record_file = "bundle.json";
const std::vector<std::string> files = {"model.onnx", "model.py", "model.npz", "train.py",
                                        "winner.recipe"};
/// Those that some bundles have.
const std::vector<std::string> more_files = {"original.py", "original.npz", page};

void write_text(const std::string& file, const std::string& text) {
  write_file(file, {std::as_bytes(std::span(text))});
}

/// Returns the files of a bundle, without bundle.json, by their names in it.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names = files;
  for (const std::string& name : more_files) {
    if (std::filesystem::exists(folder + "/" + name)) names.push_back(name);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + library)) {
    names.push_back(std::string(library) + "/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

FolderRecord record() { return {"bundle", record_file, bundle_files}; }

}  // namespace

void write_bundle(const Bundle& bundle, const std::string& folder) {
  FolderDraft draft(folder, record());
  LibraryOptions options;
  options.host = bundle.host;
  write_library(bundle.compiled, draft.file(library), options);
  write_text(draft.file("model.onnx"), export_onnx(bundle.graph));
  write_torch(bundle.graph, draft.file("model.py"));
  write_text(draft.file("train.py"), std::string(training_text()));
  if (bundle.original) write_torch(*bundle.original, draft.file("original.py"));
  nlohmann::json recipe = to_json(bundle.recipe);
  if (!bundle.made.is_null()) recipe["made"] = bundle.made;
  write_text(draft.file("winner.recipe"), recipe.dump(1) + "\n");
  if (!bundle.report.empty()) std::filesystem::copy_file(bundle.report, draft.file(page));
  nlohmann::json json = bundle.about;
  json[version_key] = bundle_version;
  json["lathe"] = lathe_version();
  std::string place = draft.file("");
  for (const std::string& name : files_of(place)) json["files"][name] = hash_of_file(place + name);
  write_text(draft.file(record_file), json.dump(1) + "\n");
  draft.commit();
}

void check_bundle_folder(const std::string& folder) { check_replaceable(folder, record()); }

nlohmann::json read_bundle(const std::string& folder) {
  std::string path = folder + "/" + record_file;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail("'{}' is no bundle: it has no {}", folder, record_file);
  }
  nlohmann::json json = nlohmann::json::parse(read_file(path), nullptr, false);
  bool is_bundle = json.is_object() && json.contains(version_key) &&
                   json[version_key].is_number_integer() && json.contains("files") &&
                   json["files"].is_object();
  if (!is_bundle) fail("'{}' is not what Lathe writes", path);
  int version = json[version_key].get<int>();
  if (version != bundle_version) {
    fail("'{}' was written by {} version of Lathe, {}", path,
         version > bundle_version ? "a later" : "an earlier",
         json.value("lathe", nlohmann::json("?")).dump());
  }
  return json;
}

FileHashes bundle_files(const std::string& folder) {
  FileHashes hashes;
  nlohmann::json bundle = read_bundle(folder);
  for (const auto& [name, hash] : bundle["files"].items()) {
    if (!hash.is_string()) fail("'{}/{}' is not what Lathe writes", folder, record_file);
    hashes[name] = hash.get<std::string>();
  }
  return hashes;
}

}  // namespace lathe
