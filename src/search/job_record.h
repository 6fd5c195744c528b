// Units and networks as records of a file of jobs, for a device that may be elsewhere. What such a
// file is, runtime/job.h says: kernels, and how to make up all numbers that they run on.
//
//   std::string file = job_file_start();
//   file += expected_outputs(unit).records;
//   file += unit_job("u1", unit, *make_unit(unit, options), target, bytes);
#pragma once

#include "compile/units.h"

namespace lathe {

/// Returns the first line of a file of jobs.
std::string job_file_start();

/// What the outputs of a unit must be.
struct ExpectedOutputs {
  std::string records;
  std::string unchecked;  ///< why nothing can be compared; "" if it can
};

/// Runs a unit on this computer's CPU, on numbers that are made up. Call it in a process of its own
/// (isolated.h).
ExpectedOutputs expected_outputs(const Unit& unit);

/// Returns the job of a unit. Its weights come from as far away as in a network that has so many
/// bytes of them.
std::string unit_job(const std::string& name, const Unit& unit, const Made& made,
                     const Target& target, long network_weights);

/// Returns the job of a whole network. All its larger weights are made up, so nobody knows what it
/// must compute.
std::string network_job(const std::string& name, const Compiled& compiled);

}  // namespace lathe
