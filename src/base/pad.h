// Padding of a tensor's dimension.
#pragma once

namespace lathe {

/// The number of elements of padding at the beginning and at the end of a dimension.
struct Pad {
  long before = 0, after = 0;
  friend bool operator==(const Pad&, const Pad&) = default;
};

}  // namespace lathe
