// manifest.json, which says what a library's folder holds. Only files of this folder include this.
#pragma once

#include <nlohmann/json.hpp>

#include "compile/compile.h"

namespace lathe {

inline constexpr const char* manifest_file = "manifest.json";
inline constexpr const char* shared_file = "libmodel.so";
inline constexpr const char* archive_file = "model.a";
inline constexpr const char* header_file = "model.h";
inline constexpr const char* example_file = "example.c";

/// The part of a manifest that Lathe reads.
struct Manifest {
  std::string name;    ///< of the functions
  std::string target;  ///< name of the target
  std::string host;    ///< name of the CPU that calls the library: the target, or a GPU's host
  std::string library_hash;  ///< of libmodel.so
};

/// Returns the manifest of a library of these variants, whose weights have so many bytes, for the
/// CPU that calls it. Its other files must already be in "folder".
std::string print_manifest(const std::vector<Compiled>& variants, size_t weights_bytes,
                           const std::string& name, const Target& host, const std::string& folder);

/// Reads and checks the manifest of a folder.
Manifest read_manifest(const std::string& folder);

}  // namespace lathe
