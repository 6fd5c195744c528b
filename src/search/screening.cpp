// screening.cpp: variants that stand for others. Interface: screening.h.
#include "search/screening.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace lathe {
namespace {

/// Layers that are halved more often than this are not looked at where only some variants are: no
/// network that rules were fitted to has one, so nothing is known of how it would learn.
constexpr long most_halvings = 4;

/// Two variants are as far away as each other if their distances differ by less. A distance is a
/// sum of logarithms: this is a tenth of a score.
constexpr double alike = 0.1;

struct Candidate {
  double distance;
  size_t steps, variant;
  Family family;
  long halvings, macs, weights;
};

bool is_nearer(const Candidate& a, const Candidate& b) {
  return std::tie(a.distance, a.steps, a.variant) < std::tie(b.distance, b.steps, b.variant);
}

/// Of two that do the same work, is "a" to be preferred? A distance that chance may have made does
/// not count.
bool is_plainer(const Candidate& a, const Candidate& b) {
  auto key = [](const Candidate& c) {
    return std::tuple(std::floor(c.distance / alike), c.steps, c.variant);
  };
  return key(a) < key(b);
}

/// Does "a" make "b" needless?
bool dominates(const Candidate& a, const Candidate& b) {
  if (a.family != b.family) return false;
  if (a.macs == b.macs) return is_plainer(a, b);
  return a.macs < b.macs && a.distance <= b.distance;
}

bool are_alike(const Candidate& a, const Candidate& b) {
  return a.family != b.family && a.macs == b.macs && a.weights == b.weights &&
         std::abs(a.distance - b.distance) < alike;
}

class Screening {
 public:
  Screening(const std::vector<LayerVariant>& all, size_t most, const VariantDistance& distance)
      : most_(most), is_known_(distance != nullptr) {
    for (size_t v = 1; v < all.size(); ++v) {
      double part = static_cast<double>(all[v].macs) / static_cast<double>(all[0].macs);
      long halvings = std::lround(-std::log2(part));
      double away = distance ? distance(v) : 0;
      if (halvings > most_halvings || !std::isfinite(away)) continue;
      candidates_.push_back(
          {away, all[v].recipe.size(), v, all[v].family, halvings, all[v].macs, all[v].weights});
    }
    if (is_known_) drop_dominated();
    std::sort(candidates_.begin(), candidates_.end(), is_nearer);
  }

  std::vector<size_t> run() {
    if (is_known_) {
      choose_for_families();
      choose_in_turn([](const Candidate& c) { return std::pair(c.halvings, 0); });
    } else {
      choose_in_turn([](const Candidate& c) { return std::pair(c.halvings, int(c.family)); });
    }
    std::sort(chosen_.begin(), chosen_.end());
    return std::move(chosen_);
  }

 private:
  size_t most_;
  bool is_known_;
  std::vector<Candidate> candidates_;
  std::vector<size_t> chosen_{0};
  std::set<size_t> taken_;
  std::set<Family> families_;    // that are represented
  std::map<long, int> of_work_;  // how many were chosen, by halvings

  bool is_full() const { return chosen_.size() >= most_; }

  void drop_dominated() {
    std::vector<Candidate> all = candidates_;
    std::erase_if(candidates_, [&](const Candidate& c) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Candidate& other) { return dominates(other, c); });
    });
  }

  void take(const Candidate& c) {
    if (is_full() || !taken_.insert(c.variant).second) return;
    chosen_.push_back(c.variant);
    families_.insert(c.family);
    ++of_work_[c.halvings];
  }

  /// Takes a variant, and one of each family that is not in "seen" and cannot be told from it.
  void take_with_alike(const Candidate& c, std::set<Family> seen = {}) {
    take(c);
    for (const Candidate& other : candidates_) {
      if (is_known_ && are_alike(c, other) && seen.insert(other.family).second) take(other);
    }
  }

  /// Takes one variant of each family.
  void choose_for_families() {
    for (const Candidate& nearest : std::vector<Candidate>(candidates_)) {
      if (families_.contains(nearest.family)) continue;
      const Candidate* best = nullptr;
      for (const Candidate& c : candidates_) {
        if (c.family != nearest.family) continue;
        if (!best || of_work_[c.halvings] < of_work_[best->halvings]) best = &c;
      }
      take_with_alike(*best, families_);
    }
  }

  /// Takes the nearest of each class in turn, until there are enough.
  template <class ClassOf>
  void choose_in_turn(ClassOf class_of) {
    std::map<std::pair<long, int>, std::vector<Candidate>> classes;
    for (const Candidate& c : candidates_) classes[class_of(c)].push_back(c);
    bool more = true;
    for (size_t round = 0; more && !is_full(); ++round) {
      more = false;
      for (const auto& [name, members] : classes) {
        if (round >= members.size()) continue;
        more = true;
        take_with_alike(members[round]);
      }
    }
  }
};

}  // namespace

std::vector<size_t> representatives(const std::vector<LayerVariant>& variants, size_t most,
                                    const VariantDistance& distance) {
  return Screening(variants, most, distance).run();
}

}  // namespace lathe
