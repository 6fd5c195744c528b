// Files that Lathe carries for the libraries and bundles that it writes: the runtime, compiled for
// every architecture, and texts. The build puts them into the program (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

#include "backends/backend_network.h"

namespace lathe {

/// Returns the runtime for the CPU of a program that runs networks on a target: what it needs, and
/// no more.
std::vector<RuntimeObject> runtime_objects(const Target& host, const Target& target);

/// Returns what measures libraries and jobs where there is no Lathe: a program that begins with the
/// function lathe_measure_main().
std::vector<RuntimeObject> measuring_objects(const Target& host);

/// Return the texts of model.h and example.c. In them, @NAME@ stands for the library's name.
std::string_view header_text();
std::string_view example_text();

/// Returns the text of train.py, the program in a bundle that tunes its network.
std::string_view training_text();

/// Returns Lathe's version: "0.1.0".
std::string_view lathe_version();

}  // namespace lathe
