// NumPy's file format for several named arrays, .npz: a zip archive of .npy files.
//
//   write_npz("model.npz", {{"conv1.weight", weight}, {"conv1.bias", bias}});
//   numpy.load("model.npz")["conv1.weight"]
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/array.h"

namespace lathe {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// Writes arrays, uncompressed, so that numpy.load reads them. No two names may be equal. The same
/// arrays make the same bytes. The old file stays until all is written. Fails for elements that
/// NumPy has no type for, and for files of 4 GiB or more.
void write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace lathe
