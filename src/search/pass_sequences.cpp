// pass_sequences.cpp: selections and orders of passes. Interface: pass_sequences.h.
#include "search/pass_sequences.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace lathe {

std::string print_passes(const PassList& passes) {
  return fmt::format("{}", fmt::join(passes, ","));
}

PassList in_stages(const PassList& passes) {
  PassList result = passes;
  std::stable_partition(result.begin(), result.end(), [](const std::string& name) {
    return find_pass(name).stage == Pass::Stage::graph;
  });
  return result;
}

PassList random_order(PassList pool, Random& random) {
  for (size_t i = pool.size(); i > 1; --i) std::swap(pool[i - 1], pool[random.below(i)]);
  return in_stages(pool);
}

PassList random_selection(const PassList& pool, Random& random) {
  check(!pool.empty(), "there are passes to choose from");
  PassList order = random_order(pool, random);
  PassList chosen;
  for (size_t wanted = 1 + random.below(pool.size()), i = 0; chosen.size() < wanted; ++i) {
    // Each of those left is as likely as any other.
    if (random.below(order.size() - i) < wanted - chosen.size()) chosen.push_back(order[i]);
  }
  return chosen;
}

PassList changed(const PassList& passes, const PassList& pool, Random& random) {
  enum class Way { leave_out, add, move };
  PassList result = passes;
  auto place = [&](size_t n) { return result.begin() + static_cast<long>(random.below(n)); };
  auto way = static_cast<Way>(random.below(3));
  if (result.empty()) way = Way::add;
  std::string moved;
  if (way == Way::add) {
    moved = pool[random.below(pool.size())];
  } else {
    auto at = place(result.size());
    moved = *at;
    result.erase(at);
  }
  if (way != Way::leave_out) result.insert(place(result.size() + 1), moved);
  return in_stages(result);
}

}  // namespace lathe
