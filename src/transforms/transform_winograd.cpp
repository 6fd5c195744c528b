// transform_winograd.cpp: names of the loops that winograd makes. Interface: transform_winograd.h.
#include "transforms/transform_winograd.h"

namespace lathe {

WinogradLoops winograd_loops(const Nest& nest, const std::string& rows,
                             const std::string& columns) {
  return {rows + ".o",
          columns + ".o",
          rows + ".i",
          columns + ".i",
          fresh_name(nest, "u"),
          fresh_name(nest, "v"),
          fresh_name(nest, "ih"),
          fresh_name(nest, "iw"),
          fresh_name(nest, "c")};
}

}  // namespace lathe
