// Object files kept from run to run, by a hash of what they were made from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lathe {

/// Returns a name for "text": equal texts have equal names, others do not in practice.
std::string fingerprint(const std::string& text);

/// Returns a text that differs between builds of this program: they may generate other code.
const std::string& program_version();

/// Returns the folder that objects are kept in; empty if there is none.
std::filesystem::path objects_folder();

/// Returns the object that was kept under this name, if there is one and its bytes are as they
/// were.
std::optional<std::string> kept_object(const std::string& name);

/// Keeps an object. A folder that cannot be written is no failure: the object is made again then.
void keep_object(const std::string& name, const std::string& object);

}  // namespace lathe
