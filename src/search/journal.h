// The record of a search: every trial is on the disk before the next begins.
//
//   Journal journal("runs/r34", {{"network", "resnet34-cifar 5f3a..."}, {"host", "..."}});
//   if (auto known = journal.find("network", recipe)) return *known;      nothing is done twice
//   journal.add({"network", recipe, ...});
//
// A search asks the journal first and depends on nothing else but its seed: one that was killed
// goes on where it was, and comes to the same end. The folder is locked while it is open; a record
// of another network, version or machine is refused, with what differs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compile/database.h"

namespace lathe {

/// One candidate that was tried.
struct Trial {
  enum class Outcome { measured, judged, refused, failed };
  std::string subject;  ///< "network", or the kind of layer that it is a variant of
  std::string recipe;   ///< in text; "" for the original
  Outcome outcome = Outcome::measured;
  std::string reason = "";           ///< of a refusal or failure
  double time = 0, own = 0;          ///< seconds, and those of the original in the same run
  nlohmann::json details = nullptr;  ///< scores, seeds, times of layers, ...
};

/// Names an outcome: "measured", ...
const char* name_of(Trial::Outcome outcome);

class Journal {
 public:
  /// What a journal is about: all that its trials depend on, by name.
  using Identity = std::map<std::string, std::string>;

  /// Opens the journal of a folder, or makes both.
  Journal(const std::string& folder, const Identity& identity);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Returns the names of the files that make a journal, in its folder.
  static std::vector<std::string> file_names();

  std::optional<Trial> find(const std::string& subject, const std::string& recipe) const;
  /// Adds a trial, in place of one of the same subject and recipe.
  void add(const Trial& trial);

  /// A number that was computed and is not to be computed again.
  std::optional<double> number(const std::string& name) const;
  void set_number(const std::string& name, double value);

 private:
  int lock_;
  Database database_;
};

/// A trial as it stands in a journal.
struct RecordedTrial {
  long number;
  std::string at;  ///< when: 2026-11-16 02:03:04
  Trial trial;
};

/// Reads a journal: of a search that is running, too.
struct JournalRecord {
  Journal::Identity identity;
  std::vector<RecordedTrial> trials;  ///< in the order in which they ended
};
JournalRecord read_journal(const std::string& folder);

}  // namespace lathe
