// One statement whose window slides by 1, with fewer products (transform_toom.h).
//
//   winograd(4):   O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh + kh, ow + kw]
//
//     U[co, ci, u, v]      += G[u, kh] * G[v, kw] * W[co, ci, kh, kw]     once: weights only
//     T[t, u, iw, ci]      += B[u, ih] * I[ci, 4*oh.o + ih, 4*ow.o + iw]  rows of tile t,
//     V[u, v, t, ci]       += B[v, iw] * T[t, u, iw, ci]                  and columns
//     P[u, v, t, co]       += U[co, ci, u, v] * V[u, v, t, ci]            36 products
//     Q[t, oh.i, v, co]    += A[oh.i, u] * P[u, v, t, co]                 for 16 outputs
//     Y[t, oh.i, ow.i, co] += A[ow.i, v] * Q[t, oh.i, v, co]
//     O[co, 4*oh.o + oh.i, 4*ow.o + ow.i] += Y[t, oh.i, ow.i, co]
//
// The relation of co and ci is taken as it is: dense, grouped, a slice. Where the statement's loops
// do not count the channels of the data in the order in which they lie (shuffled groups read ci*G +
// g), or count some twice, the data are transformed channel by channel, as they lie, and then put
// into the order of the loops:
//
//     S[u, v, t, c] += B[v, iw] * T[t, u, iw, c];     V[g, u, v, t, ci] = S[u, v, t, ci*G + g]
#pragma once

#include "nest/slide.h"
#include "transforms/transform_neural.h"

namespace lathe {

/// Rewrites a statement that was taken out of its loops, for tiles of so many outputs in each of
/// two dimensions. Fails if elements of a tensor are found in several ways, and if elements round
/// too much.
Applied winograd_statement(const Nest& nest, NeuralTarget target, Sliding sliding, long outputs);

}  // namespace lathe
