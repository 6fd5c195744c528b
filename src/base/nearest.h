// Which name did somebody mean? For messages about names that do not exist.
#pragma once

#include <string>
#include <vector>

namespace lathe {

/// Counts the letters to insert, remove or replace to turn one name into the other.
size_t edit_distance(const std::string& a, const std::string& b);

/// Returns the name with the least edit distance, the first of several; empty if there are none.
std::string nearest(const std::string& name, const std::vector<std::string>& names);

}  // namespace lathe
