// Reads statements that sum up products as convolutions: which channels and rows of the input they
// read, in how many groups, with which weights, and where the result belongs. The accesses alone
// tell all of it.
//
//   O[0, 2*g + co, oh, ow] += W[2*g + co, 2*g + ci, kh, kw] * I[0, 2*g + ci, oh + kh, ow + kw]
//
// has groups (g is in the channels of both sides), filters (co), channels (ci), positions (oh, ow)
// and a window (kh, kw). A loop that is more than one of these at once is unrolled: each of its
// iterations is a convolution of its own.
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "nest/nest.h"

namespace lathe {

/// Thrown for a statement that is no combination of standard operators; the message says why.
class NoForm : public UserError {
 public:
  using UserError::UserError;
};

/// An index as a linear function of the statement's coordinates.
struct Linear {
  Shape coefficients;
  long constant;
  long at(const Shape& x) const;
};

/// Returns the indices of an access, one for each dimension. They count from the first element
/// behind the padding.
std::vector<Linear> linear_indices(const Nest& nest, const Access& access);

/// Returns  x + step * i  for every x of a list and every i < count.
Shape stepped(const Shape& list, long step, long count);

/// One dimension that the window of a convolution slides along.
struct SlidingWindow {
  long outputs = 1, elements = 1, stride = 1, dilation = 1;
  long first = 0, end = 1;  ///< the part of the input that windows touch; outside is padding
};

/// One convolution.
struct Convolution {
  size_t input, weight;  ///< tensors of the nest
  long groups;
  Shape channels;                     ///< of the input, group by group
  std::vector<SlidingWindow> slides;  ///< of each dimension behind the channels
  std::vector<Shape> to;  ///< for each dimension of the result, its indices in what is written
  Shape weight_shape;     ///< filters, channels of a group, kernel
  Shape weight_offsets;   ///< which elements of the weight these are, as it is stored
  Shape samples;          ///< of the input: what the samples of the result are made of
};

/// Takes apart a statement  T += W * X, where W is a weight and all indices are linear. Throws
/// NoForm for any other statement.
std::vector<Convolution> convolutions_of(const Nest& nest, const Statement& statement);

}  // namespace lathe
