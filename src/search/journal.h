// The record of a search: every trial is on the disk before the next begins.
//
//   Journal journal("runs/r34", {{"network", "resnet34-cifar 5f3a..."}, {"host", "..."}});
//   if (auto known = journal.find("network", recipe)) return *known;      nothing is done twice
//   journal.add({"network", recipe, ...});
//
// A search asks the journal first, and depends on nothing else but its seed. So a search that was
// killed goes on where it was, and comes to the same end. The folder is locked while the journal is
// open. A journal of another network, version or machine is refused; the message says what differs.
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
  std::string reason = "";           ///< why it was refused or failed
  double time = 0, own = 0;          ///< seconds, and those of the original in the same run
  nlohmann::json details = nullptr;  ///< scores, seeds, times of layers, ...
};

/// Names an outcome: "measured", ...
const char* name_of(Trial::Outcome outcome);

class Journal {
 public:
  /// What a journal is about: all that its trials depend on, by name.
  using Identity = std::map<std::string, std::string>;

  /// Opens the journal in a folder. Makes the folder and the journal if there are none.
  Journal(const std::string& folder, const Identity& identity);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Returns the names of the files that make a journal, in its folder.
  static std::vector<std::string> file_names();

  /// Takes over what another journal knows of layers and of other libraries, unless it is known
  /// here. Networks are not taken over: they may have been judged otherwise.
  void adopt(const std::string& folder);

  /// Takes over what layers score from the journal of a search for another machine. Times are not
  /// taken over.
  void adopt_scores(const std::string& folder);

  /// Returns a trial; nothing if it was not made yet.
  std::optional<Trial> find(const std::string& subject, const std::string& recipe) const;
  /// Adds a trial, in place of one of the same subject and recipe.
  void add(const Trial& trial);

  /// Returns a number that was computed before; nothing if it was not.
  std::optional<double> number(const std::string& name) const;
  /// Keeps a number, so that it is not computed again.
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

/// What a journal holds.
struct JournalRecord {
  Journal::Identity identity;
  std::vector<RecordedTrial> trials;  ///< in the order in which they ended
};

/// Reads the journal in a folder. Its search may still be running.
JournalRecord read_journal(const std::string& folder);

}  // namespace lathe
