// What a layer becomes if it has fewer filters, or reads fewer channels: together with all layers
// that make or read the same channels (channel_links.h).
//
//   CoupledLayer layer(call);                       a 3x3 convolution, 64 -> 128
//   layer.variant({.filters = 96, .inputs = 48, .groups = 4})
//
// Inside a network the layer says how many filters it keeps; what it reads shrinks by itself. Its
// groups are shuffled: each reads every n-th channel, so that channels mix in every second layer.
//
// Alone, for scores, it reads its first channels, and copies stand for the filters that are gone.
#pragma once

#include <optional>

#include "nest/step.h"
#include "ops/op.h"

namespace lathe {

struct LayerVariant;

/// How many channels are left of a layer, and the shuffled groups that they are put into.
struct Coupling {
  long filters = 0, inputs = 0;  ///< numbers of channels
  long groups = 1;
  /// Is it measured and scored? Others are interpolated between those that are.
  bool is_anchor = true;
  Recipe recipe = {};  ///< that makes it inside a network, where the input shrinks by itself
};

/// Prints a variant as a recipe that no other variant has. For a coupled variant, this is the
/// recipe by which the layer alone loses the channels.
std::string label_of(const LayerVariant& variant);

/// A convolution or a fully connected layer whose channels can become fewer.
class CoupledLayer {
 public:
  explicit CoupledLayer(const Call& layer);

  long filters() const { return filters_; }  ///< as it is
  long inputs() const { return inputs_; }    ///< channels that it reads as it is
  /// Is every filter for one channel? Then filters and inputs are the same channels.
  bool is_depthwise() const { return depthwise_; }

  /// Returns the layer with so many filters and inputs, in shuffled groups; nothing if groups do
  /// not divide them into multiples of 8, or if nothing would change.
  std::optional<LayerVariant> variant(Coupling coupling) const;

  /// Returns the layer with all its channels, in shuffled groups; nothing if they do not divide it.
  std::optional<LayerVariant> shuffled(long groups) const;

  /// Returns the groups of a variant if it differs from the layer in its channels and in shuffled
  /// groups alone; 1 for the layer itself, and nothing for other variants.
  std::optional<long> groups_of(const LayerVariant& variant) const;

 private:
  long filters_ = 1, inputs_ = 1, own_groups_ = 1;
  bool depthwise_ = false;
  long macs_ = 0, weights_ = 0, biases_ = 0;  ///< as it is; biases are no part of the weights
  std::string statement_;                     ///< before the names of loops, where there are others

  Step with_loops(const char* step, const char* first, const char* second) const;
  Recipe reading(long channels) const;
  Recipe having(long filters, bool alone) const;
  Recipe in_groups(long groups) const;
};

}  // namespace lathe
