// What there is: operators, steps, networks and the other registries, as lists.
//
//   for (const ListRow& row : list_of("transforms")) ...
//   row.name, row.kind, row.text        "split(loop, size)", "exact", what it rewrites
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lathe {

struct ListRow {
  std::string name, kind, text;
};

/// Returns the names of all lists: "families", "judges", "metrics", ...
std::vector<std::string> listed();

/// Returns a list. Fails, and names those that there are, if there is none of this name.
std::vector<ListRow> list_of(const std::string& what);

/// Converts a list to JSON.
nlohmann::json to_json(const std::vector<ListRow>& rows);

}  // namespace lathe
