// Networks measured beside the original, each in a process of its own.
//
//   NetworkBench bench(original, options);
//   NetworkTimes times = bench.measure(candidate);
//   times.time / times.own                      both took turns: what disturbs one disturbs all
//
// Before a network is timed, every unit of work of it that is new is compared with the interpreter:
// on a smaller shape in all elements, and at full size in some, on what the compiled network handed
// it. So are the units of the original. What could not be compared is counted as unchecked. A
// candidate that crashes, hangs, is wrong or yields what is no number has failed, with the reason,
// and nothing else has.
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
  double spread = 0;         ///< of the candidate's times: half of them lie within so many seconds
  std::vector<NodeTime> own_nodes, nodes;  ///< in order
  NetworkChecks checks, own_checks;        ///< of the candidate, and of the original
};

/// Why a unit was not compared at full size, and on a smaller shape; "" where it was, and agreed.
struct KnownUnit {
  std::string full, reduced;
};

class NetworkBench {
 public:
  /// Weights of the original must have data.
  NetworkBench(const Graph& original, BenchOptions options);

  /// Weights of the candidate must have data, too.
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
