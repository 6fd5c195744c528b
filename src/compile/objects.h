// Keeps object files from run to run. Their names are hashes of what they were made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lathe {

/// Returns a name for "text". Equal texts have equal names; in practice, different texts do not.
std::string fingerprint(const std::string& text);

/// Returns a text that differs between builds of this program, as these may generate other code.
const std::string& program_version();

/// Returns the folder of the objects. The path is empty if there is none.
std::filesystem::path objects_folder();

/// Returns the object that was kept under this name. Returns nothing if there is none, or if its
/// bytes have changed.
std::optional<std::string> kept_object(const std::string& name);

/// Keeps an object. Does nothing if the folder cannot be written: the object is then made again in
/// the next run.
void keep_object(const std::string& name, const std::string& object);

}  // namespace lathe
