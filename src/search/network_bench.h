// Networks measured beside the original, each in a process of its own.
//
//   NetworkBench bench(original, options);
//   NetworkTimes times = bench.measure(candidate);
//   times.time / times.own                      both took turns: what disturbs one disturbs all
//
// Before a network is timed, its new units of work are compared with the interpreter: all elements
// on a smaller shape, and some elements at full size, on the data that the compiled network handed
// to the unit. The units of the original are compared, too. A unit that cannot be compared counts
// as unchecked. A candidate fails if it crashes, hangs, is wrong, or computes NaN or infinity. The
// times say why, and nothing else is disturbed.
#pragma once

#include <functional>
#include <map>

#include "compile/compile.h"
#include "search/network_checks.h"
#include "search/network_times.h"
#include "search/power.h"
#include "search/reduced.h"
#include "transforms/transform_network.h"

namespace lathe {

struct BenchOptions {
  Target target;  ///< a machine of this computer
  int threads = 1;
  double seconds = 1;  ///< of measuring
  double limit = 120;  ///< seconds for all that is done with a candidate
  double max_error = any_error;
  Chooser choose = nullptr;
  LayoutChooser layouts = nullptr;
  bool power = false;  ///< read power and temperature, too
};

struct NetworkTimes {
  std::string failure;       ///< why there are no times; "" if there are
  double own = 0, time = 0;  ///< seconds: of the original, and of the candidate
  double spread = 0;         ///< half of the candidate's times lie in a range of so many seconds
  std::vector<NodeTime> own_nodes, nodes;  ///< in order
  NetworkChecks checks, own_checks;        ///< of the candidate, and of the original
  long bytes = 0, own_bytes = 0;           ///< of memory: memory_of() (compile.h)
  PowerReading power, own_power;           ///< if it was asked for, and is shown
};

/// Why a unit was not compared, at full size and on a smaller shape; "" if it was, and agreed.
struct KnownUnit {
  std::string full, reduced;
};

/// Thrown where what is asked for is measured elsewhere, and not known yet. It is no failure, and
/// no candidate's fault: whoever tries candidates lets it pass, once all is asked for.
struct JobsWait {};

/// What measures candidates beside the original.
class NetworkMeasurer {
 public:
  virtual ~NetworkMeasurer() = default;
  /// Measures a candidate beside the original. Weights of the candidate must have data.
  virtual NetworkTimes measure(const Graph& candidate) = 0;
  /// Measures what a recipe makes of the original. "candidate" returns that; what is measured
  /// elsewhere is made there. Fails, or says so in the times, where the recipe does not apply.
  virtual NetworkTimes measure_made(const NetworkRecipe& /*recipe*/,
                                    const std::function<Graph()>& candidate) {
    return measure(candidate());
  }
};

class NetworkBench : public NetworkMeasurer {
 public:
  /// Weights of the original must have data.
  NetworkBench(const Graph& original, BenchOptions options);

  NetworkTimes measure(const Graph& candidate) override;

  /// Measures the original as it is after other passes, beside it after the usual ones. What it
  /// computes may differ by "tolerance" of the outputs' root mean square, and by what rounding
  /// does; otherwise it fails.
  NetworkTimes measure_passes(const std::vector<std::string>& passes, double tolerance = 0);

 private:
  /// What is measured: a graph, and the passes that make it ready.
  struct Candidate {
    const Graph& graph;
    std::vector<std::string> passes;
    std::optional<double> tolerance = {};  ///< if it must compute what the original does
  };
  BenchOptions options_;
  CompileOptions how_;
  Compiled original_;
  std::vector<std::string> own_units_;  ///< keys
  Graph original_graph_;
  std::map<std::string, KnownUnit> known_;  ///< units that were compared, or could not be, by key
  bool is_original_checked_ = false;
  long measured_ = 0;

  void check_original();
  NetworkTimes measure(const Candidate& candidate);
  std::string measured_text(const Candidate& candidate) const;
  std::map<std::string, KnownUnit> compared(const Candidate& network,
                                            const Compiled& compiled) const;
  static PowerReading power_of(TimedNetwork& network);
  void check_outputs(const Compiled& compiled, double tolerance) const;
  void break_new_units(const Candidate& candidate, Compiled& compiled) const;
  UnitComparison compared_small(const Unit& unit) const;
  Graph ready_for(const Candidate& network) const;
  NetworkChecks counted(const std::vector<std::string>& keys) const;
};

}  // namespace lathe
