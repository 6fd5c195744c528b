// copy.cpp: statements that copy elements. Interface: copy.h.
#include "program/copy.h"

#include <algorithm>
#include <set>

#include "program/convolution.h"

namespace lathe {
namespace {

/// Does a copy within one tensor read elements that it writes, other than each from itself?
bool reads_what_it_writes(const Copy& copy) {
  if (copy.to == copy.from) return false;
  for (size_t d = 0; d < copy.to.size(); ++d) {
    const Shape &to = copy.to[d], &from = copy.from[d];
    bool meet = std::find_first_of(to.begin(), to.end(), from.begin(), from.end()) != to.end();
    if (!meet) return false;
  }
  return true;
}

bool has_twins(const Shape& list) {
  return std::set<long>(list.begin(), list.end()).size() < list.size();
}

}  // namespace

Copy copy_of(const Nest& nest, const Statement& s) {
  auto refuse = [&](const char* why) {
    throw NoForm(fmt::format("statement '{}' {}", s.name, why));
  };
  Shape sizes = extents(plain_order(s, {}));
  const Access& source = s.reads[s.value.read];
  std::vector<Linear> to = linear_indices(nest, s.write), from = linear_indices(nest, source);
  Copy copy{source.tensor, {}, {}};
  std::set<size_t> owned;  // coordinates that move along one dimension
  for (size_t d = 0; d < to.size(); ++d) {
    Shape targets{to[d].constant}, sources{from[d].constant};
    for (size_t c = 0; c < sizes.size(); ++c) {
      if (to[d].coefficients[c] == 0 && from[d].coefficients[c] == 0) continue;
      if (!owned.insert(c).second) refuse("mixes dimensions");
      targets = stepped(targets, to[d].coefficients[c], sizes[c]);
      sources = stepped(sources, from[d].coefficients[c], sizes[c]);
    }
    if (has_twins(targets)) refuse("copies several elements to one");
    copy.to.push_back(std::move(targets));
    copy.from.push_back(std::move(sources));
  }
  if (source.tensor == s.write.tensor && reads_what_it_writes(copy)) {
    refuse("copies what it has copied before");
  }
  return copy;
}

}  // namespace lathe
