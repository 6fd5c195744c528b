// Object files to libraries, for any target: the tables of a network, and lld, objcopy and ar as
// functions. Files are named by path; every failure is a UserError.
//
//   write_tables({tables}, "weights", "tables.o");
//   join_objects({"tables.o", "kernels.o"}, exported_names("net"), "net.o");
//   link_shared(target, "net.o", "libmodel.so", "out/libmodel.so");
#pragma once

#include <string>
#include <vector>

#include "codegen/target.h"
#include "runtime/runtime.h"

namespace lathe {

/// A call of a kernel; runtime.h says what the numbers are.
struct TableStep {
  std::string symbol;
  int32_t first, tensors;
  int64_t count;
};

/// An input or output.
struct TableFace {
  std::string name, element;
  std::vector<int64_t> shape;
  int64_t bytes;
};

/// What a lathe_network is made of, but for the weights.
struct Tables {
  std::string name;  ///< a C identifier: the functions are called NAME_create, ...
  Target target;
  std::vector<TableStep> steps;
  std::vector<lathe_place> places;
  std::vector<TableFace> inputs, outputs;
  int64_t arena_bytes = 0, scratch_bytes = 0, prepared_bytes = 0, first_step = 0;
};

/// Returns the names of the functions of a library.
std::vector<std::string> exported_names(const std::string& name);

/// Writes an object file with the lathe_network of each variant, and the functions of the library,
/// which is called as the first variant is. All weights are the bytes of another file.
void write_tables(const std::vector<Tables>& variants, const std::string& weights_file,
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
