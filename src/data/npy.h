// NumPy's file format for one array, .npy, versions 1 to 3.
//
//   Array a = read_npy("weights.npy");    write_npy("copy.npy", a);
#pragma once

#include <string>

#include "base/array.h"

namespace lathe {

/// Reads an array of truth values, integers or floats. Big-endian numbers are swapped, and Fortran
/// order becomes row-major. Fails, naming the file, if it is another kind of file or incomplete.
Array read_npy(const std::string& path);

/// Writes an array so that numpy.load reads it. The old file stays until all is written. Fails for
/// elements that NumPy has no type for (bf16, strings).
void write_npy(const std::string& path, const Array& array);

/// Returns the beginning of such a file, up to the first element. Errors name "path".
std::string npy_start(const std::string& path, const Array& array);

}  // namespace lathe
