// What reaches a terminal: names from files of others are shown there, and not obeyed.
#pragma once

namespace lathe {

/// From now on, control characters that are printed become \uNNNN (base/printable.h): on standard
/// output all but ends of lines and tabs, on standard error all but those and what clears a line.
void print_safely();

}  // namespace lathe
