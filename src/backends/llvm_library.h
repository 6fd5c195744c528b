// Object files to libraries, for any CPU: the tables of a network, and lld, objcopy and ar as
// functions. Files are named by path; every failure is a UserError. Private to the folder.
//
//   write_tables(parts, nullptr, "weights", "tables.o");
//   join_objects({"tables.o", "kernels.o"}, exported_names("net"), "net.o");
//   link_shared(target, "net.o", "libmodel.so", "out/libmodel.so");
#pragma once

#include "backends/backend_network.h"

namespace lathe {

/// Writes both files of a library: an archive and a shared library, which hold the same.
void llvm_write_library(const LibraryParts& parts);

/// The same for a GPU: "machine" names the lathe_machine of the runtime that runs the network; null
/// is the host itself. The kernels are texts then, which its driver takes.
void write_library_for(const char* machine, const LibraryParts& parts);

/// Returns the names of the functions of a library.
std::vector<std::string> exported_names(const std::string& name);

/// Writes an object file with the lathe_network of each variant, and the functions of the library,
/// which is called as the first variant is. All weights are the bytes of another file.
void write_tables(const LibraryParts& parts, const char* machine, const std::string& weights_file,
                  const std::string& object_file);

/// Joins object files into one, in which all symbols but these are local: several such objects may
/// be linked into one program.
void join_objects(const std::vector<std::string>& object_files,
                  const std::vector<std::string>& exported, const std::string& object_file);

/// Writes an archive of one object file; "member" is its name there.
void write_archive(const std::string& object_file, const std::string& member,
                   const std::string& archive);

/// Links an object file to a shared library that needs libc and libm, which need not be on this
/// machine. Fails where it needs anything else.
void link_shared(const Target& target, const std::string& object_file, const std::string& soname,
                 const std::string& library);

}  // namespace lathe
