// A compiled network as files: a folder that programs in C and other languages can use.
//
//   write_library(compile(graph, {.target = native_target()}), "out");
//   LoadedLibrary library("out", 2);
//   std::vector<Array> outputs = library.run(inputs);
//
// The folder has libmodel.so and model.a, which hold the same; model.h, which declares their
// functions; example.c, which calls them; and manifest.json, which says what they are.
#pragma once

#include "base/error.h"
#include "compile/compile.h"
#include "data/folder.h"

namespace lathe {

/// The version of manifest.json. It grows with every change of the file's form or meaning.
inline constexpr int library_version = 1;

struct LibraryOptions {
  std::string name;  ///< of the functions: NAME_create, ...; empty: the network's, as an identifier
  bool without_weights = false;  ///< of a GPU: it makes weights up, for measuring
  std::string host;  ///< the CPU that calls a library for a GPU; empty: one like this machine's
};

/// Writes the folder, all of it or nothing. The folder may be new or empty, or one that an earlier
/// call wrote. In that case its files are replaced, unless one of them was changed since; files of
/// others stay. Any other folder or file is refused.
void write_library(const Compiled& compiled, const std::string& folder,
                   const LibraryOptions& options = {});

/// Writes one network that was compiled for several shapes of its inputs; programs choose at run
/// time. Shared weights are there once.
void write_library(std::vector<Compiled> variants, const std::string& folder,
                   const LibraryOptions& options = {});

/// Fails if write_library() would refuse the options or the folder. Call it before compiling.
void check_library(const std::string& folder, const LibraryOptions& options);

/// Returns a name that C accepts: "resnet18-cifar" becomes "resnet18_cifar".
std::string identifier_of(const std::string& name);

/// Is there a manifest of a library in the folder?
bool is_library(const std::string& folder);

/// Returns the hashes of a library's files from its manifest, which may be of any version. Fails if
/// the folder has no manifest.
FileHashes library_files(const std::string& folder);

/// The error for a library that is right, but made for another kind of machine.
struct OtherMachine : UserError {
  using UserError::UserError;
};

/// A library in this process.
class LoadedLibrary {
 public:
  /// Loads a folder. Fails if its files are not those that write_library() wrote. Throws
  /// OtherMachine if this machine cannot run them. "threads" means the same as for
  /// lathe_model_create().
  LoadedLibrary(const std::string& folder, int threads);
  ~LoadedLibrary();

  /// Those of the first variant.
  const std::vector<CompiledFace>& inputs() const;
  const std::vector<CompiledFace>& outputs() const;
  /// Runs the variant that takes inputs of these shapes.
  std::vector<Array> run(const std::vector<Array>& inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
