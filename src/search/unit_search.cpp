// unit_search.cpp: the search for one unit. Interface: unit_search.h.
#include "search/unit_search.h"

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

/// After so many candidates without a better one the unit is done.
constexpr long patience = 80;

/// What a unit promises, after each candidate that was no better. Thirteen of them halve it, so
/// that another unit has its turn.
constexpr double fading = 0.95;

/// Of what an earlier tuning measured once and did not confirm, only what takes this share of the
/// best's time is measured again: less would be noise.
constexpr double seems_better = 0.97;

/// Choices of similar units that are tried first: a few, as new ones must have their turn, too.
constexpr size_t most_similar = 6;

/// Draws without a choice that is new, after which there seems to be none.
constexpr int attempts = 200;

/// Returns how much two keys have in common: the longer the same beginning and end, the more.
size_t likeness(const std::string& a, const std::string& b) {
  auto begin = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return static_cast<size_t>(begin - a.begin()) + static_cast<size_t>(end - a.rbegin());
}

/// Returns the choices for the units that are most like this one, some of them.
std::vector<Choice> choices_of_similar(const TunedStore& store, const TunedFor& where) {
  std::vector<std::pair<size_t, Choice>> similar;
  for (const auto& [unit, found] : store.others(where)) {
    similar.emplace_back(likeness(unit, where.unit), found.choice);
  }
  std::stable_sort(similar.begin(), similar.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Choice> choices;
  for (const auto& [like, choice] : similar) {
    bool known = std::find(choices.begin(), choices.end(), choice) != choices.end();
    if (!known && choices.size() < most_similar) choices.push_back(choice);
  }
  return choices;
}

}  // namespace

void UnitSearch::resume(const TunedStore& store) {
  unit_.found = store.found(where_);
  if (!unit_.found) unit_.found = store.kept(where_);
  double best = unit_.found ? unit_.found->time / unit_.found->own : 1;
  for (const Measurement& m : store.measurements(where_)) {
    bool ran = m.failure.empty() && m.own > 0;
    // One that seems better and was never confirmed: the tuning ended just then.
    if (ran && m.time / m.own < seems_better * best && seeds_.empty()) {
      seeds_.push_back(m.choice);
      continue;
    }
    tried_.insert(m.choice);
    codes_.insert(m.code);
    if (ran) add_score(m.choice, m.time / m.own);
  }
  if (unit_.found) add_score(unit_.found->choice, best);
  // What was looked at for long before need not be again: it has half of the patience left.
  stale_ = std::min<long>(patience / 2, static_cast<long>(tried_.size()));
}

double UnitSearch::promise() const {
  if (exhausted_ || stale_ >= patience) return 0;
  double ratio = unit_.found ? unit_.found->time / unit_.found->own : 1;
  return unit_.time * ratio * std::pow(fading, static_cast<double>(stale_));
}

void UnitSearch::open(const UnitSpaces& space_of, const TunedStore& store) {
  space_ = space_of(work_);
  if (space_->empty()) return;
  tried_.insert({space_->front().schedule, {}});  // the default: all others are measured against it
  add_score({space_->front().schedule, {}}, 1);
  for (const Choice& choice : choices_of_similar(store, where_)) seeds_.push_back(choice);
  for (const Fitting& fitting : *space_) {
    // What fits any nest is seldom better than what is for this kind.
    if (fitting.scope != Schedule::For::any) seeds_.push_back({fitting.schedule, {}});
  }
}

std::optional<Choice> UnitSearch::next(const UnitSpaces& space_of, const TunedStore& store,
                                       const std::function<Choice()>& draw) {
  if (!space_) open(space_of, store);
  auto is_new = [&](const Choice& choice) { return tried_.insert(choice).second; };
  while (!seeds_.empty()) {
    Choice seed = seeds_.front();
    seeds_.pop_front();
    if (is_new(seed)) return seed;
  }
  for (int i = 0; i < attempts && !space_->empty(); ++i) {
    Choice choice = draw();
    if (is_new(choice)) return choice;
  }
  exhausted_ = true;
  return std::nullopt;
}

std::optional<Choice> UnitSearch::propose(const UnitSpaces& space_of, const TunedStore& store,
                                          Random& random) {
  return next(space_of, store, [&] { return proposed(*space_, best_, random); });
}

std::optional<Choice> UnitSearch::propose_broadly(const UnitSpaces& space_of,
                                                  const TunedStore& store, Random& random) {
  return next(space_of, store, [&] { return random_choice(*space_, random); });
}

std::vector<Choice> UnitSearch::best(size_t most) const {
  std::vector<Choice> choices;
  for (const Scored& scored : best_) {
    bool is_own = space_ && !space_->empty() && scored.choice.settings.empty() &&
                  scored.choice.schedule == space_->front().schedule;
    bool known = std::find(choices.begin(), choices.end(), scored.choice) != choices.end();
    if (choices.size() < most && !is_own && !known) choices.push_back(scored.choice);
  }
  return choices;
}

void UnitSearch::observe(const Choice& choice, const Tried& tried, TunedStore& store) {
  if (tried.seen || tried.code.empty()) return;  // nothing was measured
  codes_.insert(tried.code);
  store.add(where_, {choice, tried.code, tried.time, tried.own, tried.failure});
  if (tried.failure.empty() && tried.own > 0) add_score(choice, tried.time / tried.own);
}

void UnitSearch::add_score(const Choice& choice, double ratio) {
  auto place = std::upper_bound(best_.begin(), best_.end(), ratio,
                                [](double r, const Scored& scored) { return r < scored.ratio; });
  best_.insert(place, {choice, ratio});
}

}  // namespace lathe
