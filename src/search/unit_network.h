// One unit of work as a network of its own, to be run alone: its tensors are inputs and outputs of
// bytes as they lie in memory.
#pragma once

#include "compile/units.h"

namespace lathe {

/// What the tensors of a unit's nest hold, as they lie in memory; empty for those it computes.
using UnitData = std::vector<std::vector<std::byte>>;

/// Returns random data for a unit: equal units get equal data.
UnitData random_data(const Unit& unit);

/// Returns the network. Where "copies" is more than one, it has the unit several times with weights
/// of its own each, so that they come from as far away as in a network.
Compiled unit_network(const Made& made, const UnitData& data, const Target& target, long copies);

/// A unit that runs.
class UnitRunner {
 public:
  UnitRunner(const Made& made, UnitData data, const Target& target, int threads, long copies = 1);

  /// Runs the unit once; the next time with the next copy of its weights.
  void run();
  /// Returns what the outputs hold, one after the other.
  const std::vector<std::vector<std::byte>>& outputs() const { return outputs_; }

 private:
  UnitData data_;
  Compiled network_;
  Runner runner_;
  std::vector<std::vector<std::byte>> outputs_;
  size_t kernels_ = 0, next_ = 0;
};

/// Returns the bytes of a unit's weights.
long weight_bytes(const Made& made);

}  // namespace lathe
