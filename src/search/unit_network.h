// A unit of work as a network of its own, so that it can run alone. Its tensors are the network's
// inputs and outputs, as bytes in the order in which they lie in memory.
#pragma once

#include "compile/units.h"

namespace lathe {

/// What the tensors of a unit's nest hold, as they lie in memory; empty for tensors that it
/// computes.
using UnitData = std::vector<std::vector<std::byte>>;

/// Returns random data for a unit: equal units get equal data.
UnitData random_data(const Unit& unit);

/// Returns the data that whoever measures the unit elsewhere makes up (runtime/job.h): numbers by
/// these seeds, and zeros in place of elements of other types than numbers.h knows.
UnitData made_up_data(const Unit& unit);
inline uint32_t seed_of_input(size_t input) { return 1001 + static_cast<uint32_t>(input); }
inline uint32_t seed_of_weight(size_t tensor) { return 1 + static_cast<uint32_t>(tensor); }

/// Returns the network. It has the unit "copies" times, each with its own weights. So the weights
/// come from as far away in memory as in a large network.
Compiled unit_network(const Made& made, const UnitData& data, const Target& target, long copies);

/// Returns the network with one copy, without data: Compiled::later has the weights, which are
/// named by the numbers of their tensors.
Compiled unit_network_later(const Made& made, const Target& target);

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
