// width_tables.cpp: interpolated tables. Interface: width_tables.h.
#include "search/width_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Steps to either side of a level that a refined space has.
constexpr long steps_around = 2;

/// Returns how far "at" is between two numbers, as a share.
double share(long low, long high, long at) {
  return high == low ? 0 : static_cast<double>(at - low) / static_cast<double>(high - low);
}

std::optional<double> value_at(const std::vector<WidthPoint>& known, Widths widths) {
  for (const WidthPoint& point : known) {
    if (point.widths == widths) return point.value;
  }
  return std::nullopt;
}

long work(Widths widths) { return widths.filters * widths.inputs; }

bool is_within(Widths inner, Widths outer) {
  return inner.filters <= outer.filters && inner.inputs <= outer.inputs;
}

/// Is one pair of points nearer to what lies between than another?
long area(Widths low, Widths high) {
  return (high.filters - low.filters + 1) * (high.inputs - low.inputs + 1);
}

/// The numbers at the corners of a rectangle.
struct Corners {
  Widths low, high;
  double values[2][2];  ///< by filters, then by inputs
};

std::optional<Corners> corners_of(const std::vector<WidthPoint>& known, Widths low, Widths high) {
  auto a = value_at(known, low), b = value_at(known, {low.filters, high.inputs}),
       c = value_at(known, {high.filters, low.inputs}), d = value_at(known, high);
  if (!a || !b || !c || !d) return std::nullopt;
  return Corners{low, high, {{*a, *b}, {*c, *d}}};
}

double bilinear(const Corners& corners, Widths at) {
  double x = share(corners.low.filters, corners.high.filters, at.filters),
         y = share(corners.low.inputs, corners.high.inputs, at.inputs);
  const auto& v = corners.values;
  return (1 - x) * ((1 - y) * v[0][0] + y * v[0][1]) + x * ((1 - y) * v[1][0] + y * v[1][1]);
}

/// Returns what is known of a kind, dense or in so many groups.
std::vector<WidthPoint> points_of(const LayerKind& kind, const std::vector<double>& row,
                                  const std::vector<bool>& tried, long groups) {
  std::vector<WidthPoint> points;
  for (size_t v = 0; v < kind.variants.size(); ++v) {
    const LayerVariant& variant = kind.variants[v];
    bool is_known = tried[v] && std::isfinite(row[v]);
    if (!is_known || kind.coupled->groups_of(variant) != groups) continue;
    Widths widths{kind.coupled->filters(), kind.coupled->inputs()};
    if (variant.coupling) widths = {variant.coupling->filters, variant.coupling->inputs};
    points.push_back({widths, row[v]});
  }
  return points;
}

/// Returns the levels around one: all channels, and a few steps more and fewer than it leaves. None
/// leaves fewer than the narrowest did: nothing is known of that.
LinkLevels levels_around(const ChannelLink& link, size_t level, Spacing spacing) {
  std::set<std::vector<long>, std::greater<>> levels{link.levels.front(), link.levels[level]};
  for (long by = -steps_around; by <= steps_around; ++by) {
    std::vector<long> left;
    for (size_t i = 0; i < link.sets.size(); ++i) {
      const LinkedSet& set = link.sets[i];
      long least = link.levels.back()[i], most = set.channels;
      long apart = spacing == Spacing::steps ? 1 : std::max(1L, set.channels / set.step / 16);
      long steps = (link.levels[level][i] + set.step - 1) / set.step + by * apart;
      left.push_back(std::clamp(steps * set.step, least, most));
    }
    levels.insert(left);
  }
  return {levels.begin(), levels.end()};
}

/// Fills a row of a refined table.
std::vector<double> refined_row(const LayerKind& before, const std::vector<double>& row,
                                const LayerKind& now) {
  std::vector<bool> tried(row.size(), true);
  std::vector<double> result;
  for (const LayerVariant& variant : now.variants) {
    if (!variant.coupling) {
      result.push_back(row[result.size()]);  // those come first, in the same order
      continue;
    }
    auto points = points_of(before, row, tried, variant.coupling->groups);
    auto value = interpolated(points, {variant.coupling->filters, variant.coupling->inputs});
    result.push_back(value.value_or(infinity));
  }
  return result;
}

}  // namespace

std::optional<double> interpolated(const std::vector<WidthPoint>& known, Widths widths) {
  std::optional<Corners> best;
  const WidthPoint *below = nullptr, *above = nullptr;
  for (const WidthPoint& low : known) {
    if (!is_within(low.widths, widths)) continue;
    for (const WidthPoint& high : known) {
      if (!is_within(widths, high.widths)) continue;
      long size = area(low.widths, high.widths);
      if (!below || size < area(below->widths, above->widths)) {
        below = &low;
        above = &high;
      }
      if (best && size >= area(best->low, best->high)) continue;
      if (auto corners = corners_of(known, low.widths, high.widths)) best = corners;
    }
  }
  if (best) return bilinear(*best, widths);
  if (!below) return std::nullopt;
  double x = share(work(below->widths), work(above->widths), work(widths));
  return below->value + x * (above->value - below->value);
}

void interpolate_widths(const LayerKind& kind, std::vector<double>& row,
                        const std::vector<bool>& tried) {
  for (size_t v = 0; v < kind.variants.size(); ++v) {
    const auto& coupling = kind.variants[v].coupling;
    if (!coupling || tried[v]) continue;
    auto points = points_of(kind, row, tried, coupling->groups);
    row[v] = interpolated(points, {coupling->filters, coupling->inputs}).value_or(infinity);
  }
}

KnownSpace refined(const NetworkSpace& space, const LayerTables& tables, const Assignment& around,
                   Spacing spacing) {
  std::vector<LinkLevels> levels;
  for (const ChannelLink& link : space.links) {
    levels.push_back(levels_around(link, level_of(space, link, around).value_or(0), spacing));
  }
  KnownSpace result{with_levels(space, levels), tables};
  for (size_t s = 0; s < space.sites.size(); ++s) {
    const LayerKind &before = space.kinds[space.sites[s].kind],
                    &now = result.space.kinds[space.sites[s].kind];
    auto refine = [&](ChoiceTable& table) { table[s] = refined_row(before, table[s], now); };
    refine(result.tables.times);
    refine(result.tables.gains);
    for (MetricTable& metric : result.tables.metrics) refine(metric.scores);
    for (size_t v = 0; v < now.variants.size(); ++v) {
      if (!is_possible(result.space, s, v)) result.tables.times[s][v] = infinity;
    }
  }
  return result;
}

}  // namespace lathe
