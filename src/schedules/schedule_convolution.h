// Convolutions whose window slides by 1 over rows and columns, and the roles of their loops.
//
//   O[n, co, oh, ow] += W[co, ci, kh, kw] * I[n, ci, oh + kh, ow + kw]
#pragma once

#include "schedules/schedule_roles.h"
#include "schedules/schedule_winograd.h"

namespace lathe::schedules {

/// Names of loops by what they count; "" where there is no such loop.
struct ConvolutionLoops {
  std::string samples, groups, filters, channels;
  std::string rows, columns, window_rows, window_columns;
};

struct Convolution {
  WinogradShape shape;
  ConvolutionLoops loops;
};

/// Returns the convolution that the main statement of a nest is. Returns nothing if it is none, if
/// its weights are computed, or if its channels do not lie side by side in memory. Those of groups
/// may lie between each other: then those of all groups lie side by side.
std::optional<Convolution> convolution_of(const Situation& situation);

}  // namespace lathe::schedules
