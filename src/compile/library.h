// A compiled network as files: a folder that programs in C and other languages can use.
//
//   write_library(compile(graph), "out");
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

/// Grows with every change of manifest.json, or of what it promises.
inline constexpr int library_version = 1;

struct LibraryOptions {
  std::string name;  ///< of the functions: NAME_create, ...; empty: the network's, as an identifier
};

/// Writes the folder, all or nothing. One that an earlier call wrote is replaced, unless a file was
/// changed since; files of others in it stay. Any other folder or file is refused, unless it is
/// empty.
void write_library(const Compiled& compiled, const std::string& folder,
                   const LibraryOptions& options = {});

/// Fails as write_library() would where options or folder are wrong, before anything is compiled.
void check_library(const std::string& folder, const LibraryOptions& options);

/// Returns a name that C accepts: "resnet18-cifar" becomes "resnet18_cifar".
std::string identifier_of(const std::string& name);

/// Is there a manifest of a library in the folder?
bool is_library(const std::string& folder);

/// Returns the hashes of a library's files, as its manifest has them, of whichever version. Fails
/// unless the folder has one.
FileHashes library_files(const std::string& folder);

/// A library that is for another kind of machine: nothing is wrong with it.
struct OtherMachine : UserError {
  using UserError::UserError;
};

/// A library in this process.
class LoadedLibrary {
 public:
  /// Loads a folder. Fails where its files are not those that write_library() wrote, and as
  /// OtherMachine where this one cannot run them. "threads": as lathe_model_create() has it.
  LoadedLibrary(const std::string& folder, int threads);
  ~LoadedLibrary();

  const std::vector<CompiledFace>& inputs() const;
  const std::vector<CompiledFace>& outputs() const;
  std::vector<Array> run(const std::vector<Array>& inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
