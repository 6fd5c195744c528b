// nearest.cpp: names that are like others. Interface: nearest.h.
#include "base/nearest.h"

#include <algorithm>
#include <numeric>

namespace lathe {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& name, const std::vector<std::string>& names) {
  auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  };
  auto found = std::min_element(names.begin(), names.end(), closer);
  return found == names.end() ? "" : *found;
}

}  // namespace lathe
