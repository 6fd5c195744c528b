// Tuning: better choices for the units of a network, found by measuring.
//
//   TunedStore store(tuned_path());
//   auto bench = native_bench(graph, target, threads);
//   TuneReport report = tune(graph, target, *bench, store, {.seconds = 60});
//
// If the whole network is tuned, the layouts of its values are chosen first (layout_search.h). That
// takes at most a fifth of the time. Then each unit is searched by itself, by evolution: new
// choices are made of the best so far. The next unit is always the one that promises most. A unit
// promises its share of the time, and less with each candidate that was no better.
//
// Every measurement is in the store before the next one begins, so a tuning that was killed goes on
// where it was. At the end the whole network is measured, and that decides what is kept.
#pragma once

#include <map>
#include <set>

#include "compile/tuned.h"
#include "compile/units.h"
#include "search/layout_space.h"
#include "search/space.h"

namespace lathe {

/// What came of a candidate.
struct Tried {
  std::string code;     ///< a name of its kernels
  std::string failure;  ///< why it has no times: not legal, crashed, hung, wrong; "" if it has
  bool seen = false;    ///< were the same kernels measured before? Then it has no times, either
  /// Seconds of the default, of the best so far and of the candidate, from one run in turn.
  double own = 0, best = 0, time = 0;
};

/// How sure a measurement must be.
enum class Care { quick, sure };

/// A way to compile the network.
struct TuneVariant {
  Chooser choose = nullptr;
  LayoutChooser layouts = nullptr;
};

/// What runs candidates and networks, and looks at the clock.
class TuneBench {
 public:
  virtual ~TuneBench() = default;

  /// Returns what can be chosen for a unit.
  virtual ScheduleSpace space_of(const Unit& unit) = 0;
  /// Measures a choice for a unit beside the best choice so far (nothing: the default).
  virtual Tried try_choice(const Unit& unit, const std::optional<Choice>& best,
                           const Choice& choice, const std::set<std::string>& seen, Care care) = 0;
  /// Measures a unit beside the same unit in its usual layouts ("own"), both with the schedules
  /// that the templates choose.
  virtual Tried compare_units(const Unit& usual, const Unit& other) = 0;
  /// Runs the network in each way, in turn; returns the time of each as a whole ...
  virtual std::vector<double> whole_times(const std::vector<TuneVariant>& variants) = 0;
  /// ... or of each node, by name.
  virtual std::vector<std::map<std::string, double>> node_times(
      const std::vector<TuneVariant>& variants) = 0;
  /// Returns the seconds since tuning began.
  virtual double elapsed() = 0;
};

struct TuneState;

struct TuneOptions {
  int threads = 1;
  double seconds = 0;  ///< 0: no limit
  long trials = 0;     ///< 0: no limit
  uint64_t seed = 1;
  enum class Begin { resume, again } begin = Begin::resume;
  std::string layers = "*";  ///< a pattern: only layers with such names are tuned
  std::function<bool()> stop = nullptr;
  std::function<void(const TuneState&)> progress = nullptr;
  std::function<void(long)> layout_progress = nullptr;  ///< units measured in other layouts
};

/// A unit and what was found for it.
struct TunedUnit {
  std::string key;
  std::vector<std::string> nodes;  ///< whose work it does
  double time = 0;                 ///< seconds of all these nodes, untuned
  std::optional<Found> found;
  bool kept = false;
};

/// How far tuning has come.
struct TuneState {
  const TunedUnit& unit;  ///< the unit for which a choice was tried last
  const Choice& choice;
  const Tried& tried;
  bool better;
  long trials;
  double elapsed;
};

struct TuneReport {
  std::vector<TunedUnit> units;       ///< the longest first
  std::vector<ChosenLayout> layouts;  ///< those in use that are not the usual ones
  double own = 0, tuned = 0;  ///< seconds of the whole network; 0: there was nothing new to confirm
  bool kept = false;          ///< did the network get faster?
  bool stopped = false;
  long trials = 0, failed = 0;
};

/// Tunes a graph. Fails if the store cannot be written.
TuneReport tune(const Graph& graph, const Target& target, TuneBench& bench, TunedStore& store,
                const TuneOptions& options);

/// Returns what earlier tuning kept or found for a graph: its units, each once and without times,
/// and its layouts. "store" may be null.
TuneReport tuned_before(const Graph& graph, const Target& target, int threads,
                        const TunedStore* store, const std::string& layers = "*");

}  // namespace lathe
