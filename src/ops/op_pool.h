// What the pools share: a window without weights over each channel.
#pragma once

#include "ops/op_window.h"

namespace lathe::ops {

struct Pool {
  long n, c;
  Window window;
  Element element = Element::f32;
};

/// Reads a pool from its sizes, or from a call, and checks it.
Pool pool(std::string_view op, const Params& p, long dilation = 1);
Pool pool(const Call& call);

/// Returns the loops over all outputs of a pool.
StatementBuilder::Extents pool_loops(const Pool& p);
/// Returns the shape of its output.
Shape pool_shape(const Pool& p);

/// Returns what graphs know of a pool: its settings, with "more", and its output.
Signature pool_signature(const std::vector<Setting>& more,
                         std::function<Nest(isl::ctx, const Call&)> nest);

}  // namespace lathe::ops
