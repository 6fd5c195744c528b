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

#include <map>

#include "compile/compile.h"
#include "search/network_checks.h"
#include "search/network_times.h"
#include "search/reduced.h"

namespace lathe {

struct BenchOptions {
  Target target = native_target();
  int threads = 1;
  double seconds = 1;  ///< of measuring
  double limit = 120;  ///< seconds for all that is done with a candidate
  double max_error = any_error;
  Chooser choose = nullptr;
  LayoutChooser layouts = nullptr;
};

struct NetworkTimes {
  std::string failure;       ///< why there are no times; "" if there are
  double own = 0, time = 0;  ///< seconds: of the original, and of the candidate
  double spread = 0;         ///< half of the candidate's times lie in a range of so many seconds
  std::vector<NodeTime> own_nodes, nodes;  ///< in order
  NetworkChecks checks, own_checks;        ///< of the candidate, and of the original
};

/// Why a unit was not compared, at full size and on a smaller shape; "" if it was, and agreed.
struct KnownUnit {
  std::string full, reduced;
};

class NetworkBench {
 public:
  /// Weights of the original must have data.
  NetworkBench(const Graph& original, BenchOptions options);

  /// Measures a candidate beside the original. Weights of the candidate must have data, too.
  NetworkTimes measure(const Graph& candidate);

 private:
  BenchOptions options_;
  CompileOptions how_;
  Compiled original_;
  std::vector<std::string> own_units_;  ///< keys
  Graph original_graph_;
  std::map<std::string, KnownUnit> known_;  ///< units that were compared, or could not be, by key
  bool is_original_checked_ = false;
  long measured_ = 0;

  void check_original();
  std::string measured_text(const Graph& candidate) const;
  std::map<std::string, KnownUnit> compared(const Graph& network, const Compiled& compiled) const;
  void break_new_units(const Graph& candidate, Compiled& compiled) const;
  UnitComparison compared_small(const Unit& unit) const;
  Graph ready_for(const Graph& network) const;
  NetworkChecks counted(const std::vector<std::string>& keys) const;
};

}  // namespace lathe
