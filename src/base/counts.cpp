// counts.cpp: large numbers. Interface: counts.h.
#include "base/counts.h"

#include <fmt/format.h>

namespace lathe {

std::string print_count(long n) {
  std::string digits = fmt::format("{}", n), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace lathe
