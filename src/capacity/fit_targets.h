// What values of a changed network were in the original.
#pragma once

#include <map>
#include <optional>

#include "graph/graph.h"

namespace lathe {

/// Elements of a value of the original: at[d] lists their indices in dimension d.
struct FitTarget {
  ValueId value;
  std::vector<Shape> at;
};

/// Returns, for values of the changed network, the elements of the original that they stand for.
/// Values keep their names; of fewer channels, those that with_fewer() leaves. Values that are
/// only copied into another one (parts that are joined) stand for their part of it.
std::map<ValueId, FitTarget> fit_targets(const Graph& original, const Graph& changed);

/// Returns which channels of a network's only input a value consists of, if nodes before it do no
/// more than choose them.
std::optional<Shape> channels_copied(const Graph& network, ValueId value);

/// Returns these elements of an array.
Array elements_at(const Array& array, const std::vector<Shape>& at);

}  // namespace lathe
