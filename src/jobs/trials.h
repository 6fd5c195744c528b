// What a search tried, as programs read it.
//
//   to_json(read_journal("runs/r34"))                {"about": ..., "trials": [...]}
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "search/journal.h"

namespace lathe {

/// Converts what a journal holds to JSON; times are milliseconds.
nlohmann::json to_json(const JournalRecord& record);

}  // namespace lathe
