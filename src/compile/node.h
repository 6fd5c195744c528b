// Compiles one nest to kernels: schedules it, scans its loops and lowers them. Also finds what can
// be done to its constants once, before the network runs.
#pragma once

#include "codegen/code.h"
#include "nest/step.h"
#include "schedules/schedule.h"

namespace lathe {

/// A copy of constants into the order in which a kernel reads them. It is made before the network
/// runs: to[target(i)] = from[source(i)] for all i in the box "extents" where "guard" holds.
struct Repacking {
  size_t from, to;  ///< tensors
  std::vector<long> extents;
  poly::Affine source, target;
  Guard guard;
};

/// What a nest becomes. It holds no isl objects, so threads may pass it on.
struct NodeCode {
  std::string schedule;  ///< the template's name
  std::string recipe;
  std::vector<Tensor> tensors;
  std::vector<Layout> layouts;
  std::vector<Repacking> repackings;
  std::vector<Code> kernels;  ///< in sequence
  std::vector<bool> once;     ///< does a kernel need only weights? It runs when they are loaded
  std::string nest, loops;    ///< as text, if somebody asked for it
  bool as_chosen = false;     ///< was a choice given, and does the code follow it?
};

/// Is the text of the nest and of its loops wanted, too?
enum class Listing { none, text };

/// What happens to elements that the nest does not set: they become 0, or keep their values.
enum class Unset { zero, kept };

/// Compiles a nest whose tensors have these layouts. Layouts without axes, those of local tensors,
/// are chosen here. "choice" and "max_error" mean the same as for schedule().
NodeCode lower_node(const Nest& nest, std::vector<Layout> layouts, const Target& target,
                    Listing listing = Listing::none, Unset unset = Unset::zero,
                    const std::optional<Choice>& choice = std::nullopt,
                    double max_error = any_error);

/// Returns the templates that fit the nest, for the same layouts as lower_node() has.
std::vector<Fitting> fitting_schedules(const Nest& nest, std::vector<Layout> layouts,
                                       const Target& target, Unset unset = Unset::zero);

/// Copies elements as a repacking says. "bytes" is the size of one element.
void repack(const Repacking& repacking, const std::byte* from, std::byte* to, long bytes);

}  // namespace lathe
