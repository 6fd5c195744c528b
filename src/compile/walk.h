// A network that runs node by node on many samples. Each value is kept for all samples as long as
// something still needs it. So weights can be changed on the way, before they are first used.
//
//   Walk walk(network, images, runners, {{value, 1}});      images: minibatches of equal size
//   walk.of(value);                                         computes what it depends on, too
//   walk.release(value);                                    once for each time that it was
//   announced
#pragma once

#include <map>

#include "compile/runners.h"
#include "nest/nest.h"

namespace lathe {

class Walk {
 public:
  /// The value for each minibatch.
  using Samples = std::vector<Array>;

  /// Begins with what the network's only input reads. "wanted" says how often somebody will release
  /// a value. The network must outlive the walk; weights that were not used yet may change.
  Walk(const Graph& network, Samples inputs, Runners& runners, std::map<ValueId, size_t> wanted);

  /// Returns a value for all samples. It stays until its last use.
  const Samples& of(ValueId value);
  /// Takes back one of the announced uses.
  void release(ValueId value);

 private:
  const Graph& network_;
  Runners& runners_;
  Context context_;
  std::vector<size_t> maker_, uses_;  // of values
  std::vector<bool> has_run_;         // of nodes
  std::map<ValueId, Samples> known_;
  size_t minibatches_;

  void run(size_t node);
};

}  // namespace lathe
