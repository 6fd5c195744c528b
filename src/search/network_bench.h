// Networks measured beside the original, each in a process of its own.
//
//   NetworkBench bench(original, options);
//   NetworkTimes times = bench.measure(candidate);
//   times.time / times.own                      both took turns: what disturbs one disturbs all
//
// Before a network is timed, every unit of work of it that is new is compared with the interpreter
// on a smaller shape. A candidate that crashes, hangs, is wrong or yields what is no number has
// failed, with the reason, and nothing else has.
#pragma once

#include <set>

#include "compile/compile.h"
#include "search/network_times.h"

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
  std::set<std::string> checked_;  ///< units that compute what the interpreter does
  long measured_ = 0;

  std::string measured_text(const Graph& candidate) const;
  std::string wrong_unit(const Graph& candidate, std::vector<std::string>& checked) const;
};

}  // namespace lathe
