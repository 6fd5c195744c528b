// Random small networks: what writers of them share.
#pragma once

#include "ops/op_graph.h"
#include "support/random_case.h"

namespace lathe::test {

/// Images that were computed so far, and how weights and further ones are added.
class RandomNetwork {
 public:
  explicit RandomNetwork(Random& random) : random_(random) {}

 protected:
  Random& random_;
  GraphBuilder g_{"random"};
  std::vector<ValueId> values_;

  long channels(ValueId id) const { return g_.shape(id)[1]; }
  /// Picks the last image, or any.
  ValueId pick() { return random_.chance(50) ? values_.back() : random_.pick(values_); }
  ValueId weight(const Shape& shape, Value::Kind kind = Value::Kind::weight) {
    return g_.weight(fmt::format("w{}", weights_++), shape, {Initial::Kind::normal, 0.3}, kind);
  }
  ValueId normalised(ValueId x) {
    std::vector<ValueId> inputs{x};
    for (int i = 0; i < 4; ++i) {
      inputs.push_back(weight({channels(x)}, i < 2 ? Value::Kind::weight : Value::Kind::state));
    }
    return g_.call("batch_norm", inputs, {{"epsilon", 2.0}});  // statistics may be below 0
  }
  /// Adds another image of as many channels, if one is picked; returns no_value if none is.
  ValueId added_to_another(ValueId x) {
    for (ValueId other : values_) {
      if (other != x && channels(other) == channels(x) && random_.chance(40)) {
        return g_.call("add", {x, other});
      }
    }
    return no_value;
  }

 private:
  long weights_ = 0;
};

}  // namespace lathe::test
