// What tuning found: every measurement of a unit of work, and the choices that came of them. They
// are kept in a SQLite database beside the object cache.
//
//   TunedStore store(tuned_path());
//   store.add(where, {choice, code, 0.0021, 0.0024, ""});         on the disk when it returns
//   options.choose = tuned_choices(tuned_path(), target, threads);   what every command uses
//
// A choice is "found" when a unit alone got faster by it, and "kept" when a network did, too: only
// those are used. They hold for one kind of processor, and a number of workers. Beside them are the
// layouts that were chosen for whole networks, and the measurements that they come of.
#pragma once

#include "compile/compile.h"
#include "compile/database.h"

namespace lathe {

/// For what a choice holds.
struct TunedFor {
  std::string unit;    ///< its key (units.h), or a network's (pass_layout.h)
  std::string target;  ///< name, instructions and processor
  int threads = 1;
};

/// One candidate that was tried.
struct Measurement {
  Choice choice;
  std::string code;          ///< a name of its kernels: equal ones are measured once
  double time = 0;           ///< seconds, the median; 0 where it failed
  double own = 0;            ///< the same of what the template itself chooses, in the same run
  std::string failure = "";  ///< why it does not count
};

/// A choice that made a unit faster.
struct Found {
  Choice choice;
  double time = 0, own = 0;  ///< seconds, confirmed in a run of their own
};

/// What a unit takes in other layouts than usual, by the template's own choice.
struct LayoutCost {
  double time = 0;           ///< seconds; 0 where it failed
  double own = 0;            ///< the same of the unit "beside" it, which took turns with it
  std::string failure = "";  ///< why it does not count
};

/// The database. Its functions fail with a UserError where it cannot be read or written.
class TunedStore {
 public:
  /// Opens the file, or makes it, with its folder.
  explicit TunedStore(const std::string& path);

  void add(const TunedFor& where, const Measurement& measurement);
  std::vector<Measurement> measurements(const TunedFor& where) const;

  void set_found(const TunedFor& where, const Found& found);
  std::optional<Found> found(const TunedFor& where) const;
  std::optional<Found> kept(const TunedFor& where) const;
  /// Keeps the choices that were found for these, all or none; those of "dropped" no longer.
  void keep(const std::vector<TunedFor>& found, const std::vector<TunedFor>& dropped);
  void add_cost(const TunedFor& where, const std::string& beside, const LayoutCost& cost);
  std::optional<LayoutCost> cost(const TunedFor& where, const std::string& beside) const;

  /// Keeps the layouts that were chosen for a network; nothing: as the passes choose.
  void keep_layouts(const TunedFor& network, const std::optional<LayoutChoice>& choice);
  std::optional<LayoutChoice> layouts(const TunedFor& network) const;

  /// Forgets all about these.
  void forget(const std::vector<TunedFor>& where);

  /// Returns the choices that were found for other units, by unit.
  std::map<std::string, Found> others(const TunedFor& where) const;

 private:
  Database database_;
};

/// Returns the file: $LATHE_TUNED, or tuned.db beside the cache of objects; "" if there is no
/// folder for it, or $LATHE_TUNED is empty: then nothing is kept and nothing found.
std::string tuned_path();

/// Returns what choices for a target hold for: its name and instructions, and this processor.
std::string tuned_target(const Target& target);

/// Returns the choices that were kept for a target and so many workers; null if there are none. A
/// file that cannot be read is no failure: "warn" is told, and the templates choose.
Chooser tuned_choices(const std::string& path, const Target& target, int threads,
                      const std::function<void(const std::string&)>& warn);

/// Returns the layouts that were kept, in the same way; tuned_choices() says what is wrong with the
/// file.
LayoutChooser tuned_layouts(const std::string& path, const Target& target, int threads);

/// Prints settings as JSON: {"block":16,"positions":5}; reads them, nothing if they are none.
std::string print_settings(const Settings& settings);
std::optional<Settings> parse_settings(const std::string& text);

}  // namespace lathe
