// library.cpp: a compiled network as files. Interface: library.h.
#include "compile/library.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "compile/embedded.h"
#include "compile/manifest.h"
#include "compile/tables.h"
#include "compile/variants.h"
#include "data/file.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, std::string_view text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

FolderRecord record() { return {"compiled library", manifest_file, library_files}; }

bool is_identifier(const std::string& name) { return !name.empty() && identifier_of(name) == name; }

std::string with_name(std::string_view text, const std::string& name) {
  constexpr std::string_view mark = "@NAME@";
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t next = std::min(text.find(mark, at), text.size());
    result += text.substr(at, next - at);
    at = next;
    if (at == text.size()) break;
    result += name;
    at += mark.size();
  }
  return result;
}

/// Returns the object files of all variants. Several may have the same kernels: each is there once.
std::vector<std::string_view> objects_of(const std::vector<Compiled>& variants) {
  std::vector<std::string_view> objects;
  std::set<std::string_view> known;
  for (const Compiled& variant : variants) {
    for (const std::string& object : variant.objects) {
      if (known.insert(object).second) objects.push_back(object);
    }
  }
  return objects;
}

/// Returns the CPU that calls a library.
Target host_of(const Target& target, const std::string& name) {
  if (!target.is_gpu()) {
    if (!name.empty()) fail("a library for {} runs on it alone: leave out the host", target.name);
    return target;
  }
  Target host = target_named(name.empty() ? "native" : name);
  if (host.is_gpu()) fail("the host of a library is a CPU, and '{}' is a GPU", name);
  return host;
}

/// Writes the two libraries. What they are made from lies in a folder of its own meanwhile.
void write_libraries(const std::vector<Compiled>& variants, std::span<const std::byte> weights,
                     const std::string& name, const Target& host, const LibraryOptions& options,
                     const FolderDraft& draft) {
  const Target& target = variants.front().target;
  LibraryParts parts;
  parts.without_weights = options.without_weights;
  for (const Compiled& variant : variants) parts.variants.push_back(tables_of(variant, name));
  parts.weights = weights;
  parts.kernels = objects_of(variants);
  parts.host = host;
  parts.runtime = runtime_objects(host, target);
  parts.folder = draft.file("parts");
  parts.archive = draft.file(archive_file);
  parts.shared = draft.file(shared_file);
  fs::create_directory(parts.folder);
  backend_for(target).write_library(parts);
  fs::remove_all(parts.folder);
}

}  // namespace

std::string identifier_of(const std::string& name) {
  std::string result;
  for (char c : name) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    result += letter || (c >= '0' && c <= '9') ? c : '_';
  }
  // C has no names that begin with a digit; those of the runtime begin with "lathe".
  bool taken = result.empty() || (result[0] >= '0' && result[0] <= '9') || result[0] == '_' ||
               result.starts_with("lathe");
  return taken ? "net_" + result : result;
}

bool is_library(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / manifest_file, ignored);
}

void check_library(const std::string& folder, const LibraryOptions& options) {
  if (!options.name.empty() && !is_identifier(options.name)) {
    fail("the name '{}' cannot begin the names of C functions; '{}' can", options.name,
         identifier_of(options.name));
  }
  check_replaceable(folder, record());
}

void write_library(const Compiled& compiled, const std::string& folder,
                   const LibraryOptions& options) {
  write_library(std::vector<Compiled>{compiled}, folder, options);
}

void write_library(std::vector<Compiled> variants, const std::string& folder,
                   const LibraryOptions& options) {
  check_library(folder, options);
  check_variants(variants);
  const Target& target = variants.front().target;
  Target host = host_of(target, options.host);
  if (options.without_weights && !target.is_gpu()) {
    fail("a library for {} needs its weights; those of GPUs can make them up", target.name);
  }
  std::vector<std::byte> weights = join_weights(variants);
  constexpr size_t most = size_t{3} << 29;  // code reaches 2 GiB on x86-64, and there is more
  if (weights.size() > most) {
    fail("the weights have {} bytes; a library can hold {}", weights.size(), most);
  }
  std::string name = options.name.empty() ? identifier_of(variants.front().name) : options.name;
  FolderDraft draft(folder, record());
  try {
    write_libraries(variants, weights, name, host, options, draft);
    write(draft.file(header_file), with_name(header_text(), name));
    write(draft.file(example_file), with_name(example_text(), name));
    std::string at = fs::path(draft.file(manifest_file)).parent_path().string();
    write(draft.file(manifest_file), print_manifest(variants, weights.size(), name, host, at));
    draft.commit();
  } catch (const fs::filesystem_error& error) {
    fail("cannot write the folder '{}': {}", folder, error.code().message());
  }
}

}  // namespace lathe
