// Networks tuned with the same budget, and measured beside each other: the end of a search.
//
//   EqualTuning tuning(original, "runs/r34/tuned.db", journal, {.seconds = 20});
//   auto times = tuning.measure(candidate, recipe);        both were tuned for 20 seconds
//
// The store and the journal keep what was tuned and measured. It is not done again.
#pragma once

#include "search/journal.h"
#include "search/network_bench.h"

namespace lathe {

struct EqualTuningOptions {
  BenchOptions bench;   ///< its choices are ignored: those of the store are used
  double seconds = 20;  ///< of tuning, for each network; 0: none is tuned
  uint64_t seed = 1;
  std::function<bool()> stop = nullptr;
  /// Is told which network is tuned ("the original", ...), and for how many seconds so far.
  std::function<void(const std::string&, double)> progress = nullptr;
};

/// What measures networks at the end of a search, all tuned alike.
class TunedMeasurer {
 public:
  virtual ~TunedMeasurer() = default;
  /// Measures a network that a recipe (in text) made of the original beside that. Returns nothing
  /// if it was stopped, or is not known yet.
  virtual std::optional<NetworkTimes> measure(const Graph& candidate,
                                              const std::string& recipe) = 0;
  /// Returns the options by which tuned networks are compiled.
  virtual CompileOptions compiling() const = 0;
};

class EqualTuning : public TunedMeasurer {
 public:
  /// Weights of the original must have data. The store is a file (compile/tuned.h).
  EqualTuning(const Graph& original, std::string store, Journal& journal,
              EqualTuningOptions options);

  /// Tunes the original, unless that was done before. Tunes a network that a recipe (in text) made
  /// of it. Then measures the two in turn. Returns nothing if it was stopped.
  std::optional<NetworkTimes> measure(const Graph& candidate, const std::string& recipe) override;

  CompileOptions compiling() const override;

 private:
  const Graph& original_;
  std::string store_;
  Journal& journal_;
  EqualTuningOptions options_;

  bool tune_once(const Graph& network, const std::string& name, const std::string& recipe);
};

}  // namespace lathe
