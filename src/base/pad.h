// Padding of a tensor's dimension.
#pragma once

namespace lathe {

/// How many elements at the beginning and at the end of a dimension are padding.
struct Pad {
  long before = 0, after = 0;
  friend bool operator==(const Pad&, const Pad&) = default;
};

}  // namespace lathe
