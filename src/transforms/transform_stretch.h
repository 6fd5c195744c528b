// Channels of the data that a statement does not count in the order in which they lie: shuffled
// groups read ci*G + g. Or it counts some of them twice.
#pragma once

#include <optional>

#include "nest/slide.h"

namespace lathe {

/// Channels as they lie: from "first" on in one dimension of the data.
struct ChannelStretch {
  size_t dimension;
  long first, count;
};

/// Returns the dimension of the data that several coordinates index and that none of them counts
/// element by element from inside, or that they index twice. The coordinates must index nothing
/// else of the data, and all of a stretch. Coordinates along which windows slide do not count.
std::optional<ChannelStretch> channels_as_they_lie(const Statement& s, const Sliding& sliding);

}  // namespace lathe
