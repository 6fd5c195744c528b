// Inputs of networks, drawn at random: what a network can read, the same on every machine.
//
//   std::vector<Array> inputs = random_inputs(graph, 1);
//   below_of(bert, bert.inputs[0])                       30522: these are words
#pragma once

#include <string>
#include <vector>

#include "base/array.h"
#include "graph/graph.h"

namespace lathe {

/// Below this are whole numbers of which nothing is known: 0 and 1 are in every range, and are what
/// masks hold.
constexpr long any_whole = 2;

/// Returns what the whole numbers of an input must be below: the least extent that they index, at
/// once or behind nodes that hand them on. Bytes that index nothing are below 256, others below
/// "any_whole".
long below_of(const Graph& graph, ValueId input);

/// Draws an array: reals from the normal distribution, whole numbers from 0 to below - 1. The seed
/// and the name decide it.
Array random_array(const Type& type, long below, uint64_t seed, const std::string& name);

/// Draws all inputs of a network, each by its name.
std::vector<Array> random_inputs(const Graph& graph, uint64_t seed);

}  // namespace lathe
