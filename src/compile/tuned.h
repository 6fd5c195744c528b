// Stores what tuning found: every measurement of a unit of work, and the choices that follow from
// them. It is a SQLite database beside the object cache.
//
//   TunedStore store(tuned_path());
//   store.add(where, {choice, code, 0.0021, 0.0024, ""});         on the disk when it returns
//   options.choose = tuned_choices(tuned_path(), target, threads);   what every command uses
//
// A choice is "found" if it makes a unit faster alone. It is "kept" if it makes a network faster,
// too. Only kept choices are used. They hold for one kind of processor and one number of workers.
// The database also has the layouts that were chosen for whole networks, and their measurements.
#pragma once

#include "compile/compile.h"
#include "compile/database.h"

namespace lathe {

/// What a choice holds for.
struct TunedFor {
  std::string unit;    ///< its key (units.h), or a network's (pass_layout.h)
  std::string target;  ///< name, instructions and processor, or a GPU's model
  int threads = 1;
};

/// One candidate that was tried.
struct Measurement {
  Choice choice;
  std::string code;          ///< a name of its kernels: equal kernels are measured once
  double time = 0;           ///< median in seconds; 0 if it failed
  double own = 0;            ///< time of the template's own choice, in the same run
  std::string failure = "";  ///< why it does not count
};

/// A choice that made a unit faster.
struct Found {
  Choice choice;
  double time = 0, own = 0;  ///< seconds, confirmed in a run of their own
};

/// The time of a unit in unusual layouts. It is scheduled by the template's own choice.
struct LayoutCost {
  double time = 0;           ///< seconds; 0 if it failed
  double own = 0;            ///< time of the unit "beside" it, which was measured in turns with it
  std::string failure = "";  ///< why it does not count
};

/// The database. Its functions throw a UserError if it cannot be read or written.
class TunedStore {
 public:
  /// Opens the file. Makes it, and its folder, if there is none.
  explicit TunedStore(const std::string& path);

  void add(const TunedFor& where, const Measurement& measurement);
  /// Adds many: all or none.
  void add_all(const std::vector<std::pair<TunedFor, Measurement>>& all);
  std::vector<Measurement> measurements(const TunedFor& where) const;

  void set_found(const TunedFor& where, const Found& found);
  std::optional<Found> found(const TunedFor& where) const;
  std::optional<Found> kept(const TunedFor& where) const;
  /// Keeps the choices that were found for "found", and no longer those for "dropped": all or none.
  void keep(const std::vector<TunedFor>& found, const std::vector<TunedFor>& dropped);
  void add_cost(const TunedFor& where, const std::string& beside, const LayoutCost& cost);
  std::optional<LayoutCost> cost(const TunedFor& where, const std::string& beside) const;

  /// Keeps the layouts that were chosen for a network. Nothing: the passes choose.
  void keep_layouts(const TunedFor& network, const std::optional<LayoutChoice>& choice);
  std::optional<LayoutChoice> layouts(const TunedFor& network) const;

  /// Forgets all about these.
  void forget(const std::vector<TunedFor>& where);

  /// Returns the target of TunedFor under which there is something kept: that of tuned_target(),
  /// or, for a kind of GPU, that of the device of this kind that was tuned last.
  std::string target_of(const Target& target) const;

  /// Returns the choices that were found for all other units, by unit.
  std::map<std::string, Found> others(const TunedFor& where) const;

 private:
  Database database_;
};

/// Returns the path of the file: $LATHE_TUNED, or tuned.db beside the object cache. It is "" if
/// $LATHE_TUNED is empty, or if there is no folder. Then nothing is kept and nothing found.
std::string tuned_path();

/// Returns the target of TunedFor: the name and instructions of a target, and this processor. Of a
/// GPU: its kind, its number of multiprocessors and its model, "" if no device is meant.
std::string tuned_target(const Target& target);

/// Returns the choices that were kept for a target and so many workers, or null if there are none.
/// For a kind of GPU ("cuda:sm_90") they are those of the device of this kind that was tuned last.
/// If the file cannot be read, "warn" gets the reason, and the templates choose.
Chooser tuned_choices(const std::string& path, const Target& target, int threads,
                      const std::function<void(const std::string&)>& warn);

/// Returns the layouts that were kept, in the same way. It does not warn: tuned_choices() does.
LayoutChooser tuned_layouts(const std::string& path, const Target& target, int threads);

/// Prints settings as JSON: {"block":16,"positions":5}. Parses them; returns nothing if the text is
/// something else.
std::string print_settings(const Settings& settings);
std::optional<Settings> parse_settings(const std::string& text);

}  // namespace lathe
