// manifest.cpp: what a library's folder holds. Interface: manifest.h.
#include "compile/manifest.h"

#include <cstring>

#include "base/error.h"
#include "base/json_reason.h"
#include "base/random.h"
#include "compile/embedded.h"
#include "compile/library.h"
#include "data/file.h"

namespace lathe {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr const char* format_name = "lathe-library";

Ordered faces(const std::vector<CompiledFace>& list) {
  Ordered json = Ordered::array();
  for (const CompiledFace& face : list) {
    json.push_back(
        {{"name", face.name}, {"element", name_of(face.type.element)}, {"shape", face.type.shape}});
  }
  return json;
}

/// A manifest is a few KiB: a file of this size is something else, and is not read.
constexpr long most_bytes = 1L << 30;

/// Reads a manifest; only its format is checked.
nlohmann::json parse(const std::string& path) {
  if (InputFile(path).size() > most_bytes) fail("'{}' is too large to be a manifest", path);
  nlohmann::json json = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) fail("'{}' is damaged: it is no JSON object", path);
  auto format = json.find("format");
  if (format == json.end() || *format != format_name) {
    fail("'{}' is no manifest of a compiled library", path);
  }
  return json;
}

/// Returns the extras that some variant needs.
std::set<Extra> needs_of(const std::vector<Compiled>& variants) {
  std::set<Extra> needs;
  for (const Compiled& variant : variants) needs.insert(variant.needs.begin(), variant.needs.end());
  return needs;
}

}  // namespace

std::string print_manifest(const std::vector<Compiled>& variants, size_t weights_bytes,
                           const std::string& name, const Target& host, const std::string& folder) {
  const Compiled& compiled = variants.front();
  Ordered json;
  json["format"] = format_name;
  json["version"] = library_version;
  json["lathe"] = lathe_version();
  json["name"] = name;
  json["network"] = compiled.name;
  json["target"] = {{"name", full_name(compiled.target, needs_of(variants))},
                    {"triple", compiled.target.triple},
                    {"features", compiled.target.features}};
  if (compiled.target.is_gpu()) json["host"] = host.name;
  json["inputs"] = faces(compiled.inputs);
  json["outputs"] = faces(compiled.outputs);
  json["weights_bytes"] = weights_bytes;
  json["arena_bytes"] = compiled.arena_bytes;
  json["scratch_bytes"] = compiled.scratch_bytes;
  for (size_t i = 1; i < variants.size(); ++i) {
    json["variants"].push_back({{"inputs", faces(variants[i].inputs)},
                                {"outputs", faces(variants[i].outputs)},
                                {"arena_bytes", variants[i].arena_bytes},
                                {"scratch_bytes", variants[i].scratch_bytes}});
  }
  json["files"] = Ordered::array();
  for (const char* file : {shared_file, archive_file, header_file, example_file}) {
    std::string path = folder + "/" + file;
    json["files"].push_back(
        {{"name", file}, {"bytes", InputFile(path).size()}, {"hash", hash_of_file(path)}});
  }
  json["nodes"] = Ordered::array();
  for (const CompiledNode& node : compiled.nodes) {
    json["nodes"].push_back({{"name", node.name},
                             {"op", node.op},
                             {"schedule", node.schedule},
                             {"recipe", node.recipe},
                             {"steps", node.steps}});
  }
  // Names come from files of others, and may be no UTF-8.
  return json.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

FileHashes library_files(const std::string& folder) {
  std::string path = folder + "/" + manifest_file;
  nlohmann::json json = parse(path);
  FileHashes hashes;
  try {
    for (const nlohmann::json& file : json.at("files")) hashes[file.at("name")] = file.at("hash");
  } catch (const nlohmann::json::exception&) {
    fail("'{}' is damaged: it does not say which files it is about", path);
  }
  return hashes;
}

Manifest read_manifest(const std::string& folder) {
  std::string path = folder + "/" + manifest_file;
  try {
    nlohmann::json json = parse(path);
    int version = json.at("version").get<int>();
    if (version != library_version) {
      fail("'{}' is of version {}, but this Lathe reads version {}: compile the network again",
           folder, version, library_version);
    }
    Manifest manifest;
    manifest.name = json.at("name").get<std::string>();
    manifest.target = json.at("target").at("name").get<std::string>();
    manifest.host = json.value("host", manifest.target);
    manifest.library_hash = library_files(folder)[shared_file];
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    fail("'{}' is damaged: {}; compile the network again", path, plain_reason(error));
  }
}

}  // namespace lathe
