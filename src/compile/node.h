// One nest to kernels: scheduled, scanned, lowered, and what can be done once to its constants.
#pragma once

#include "codegen/code.h"
#include "nest/step.h"
#include "schedules/schedule.h"

namespace lathe {

/// Copies constants into the order in which a kernel reads them, before the network runs:
/// to[target(i)] = from[source(i)] for all i in the box "extents" where "guard" holds.
struct Repacking {
  size_t from, to;  ///< tensors
  std::vector<long> extents;
  poly::Affine source, target;
  Guard guard;
};

/// What a nest becomes. It holds no isl objects: it may pass between threads.
struct NodeCode {
  std::string schedule;  ///< the template's name
  std::string recipe;
  std::vector<Tensor> tensors;
  std::vector<Layout> layouts;
  std::vector<Repacking> repackings;
  std::vector<Code> kernels;  ///< in sequence
  std::vector<bool> once;     ///< which kernels need weights alone: they run when they are loaded
  std::string nest, loops;    ///< as text, where it was asked for
  bool as_chosen = false;     ///< a choice was given, and this is it
};

/// What else is wanted of a nest that is compiled.
enum class Listing { none, text };

/// What becomes of elements that a nest does not set: they become 0, or keep their value.
enum class Unset { zero, kept };

/// Compiles a nest whose tensors have these layouts; those without axes (of locals) are chosen.
/// "choice" and "max_error" say how it is scheduled, as schedule() has it.
NodeCode lower_node(const Nest& nest, std::vector<Layout> layouts, const Target& target,
                    Listing listing = Listing::none, Unset unset = Unset::zero,
                    const std::optional<Choice>& choice = std::nullopt,
                    double max_error = any_error);

/// Returns the templates that fit the nest, as lower_node() would use them.
std::vector<Fitting> fitting_schedules(const Nest& nest, std::vector<Layout> layouts,
                                       const Target& target, Unset unset = Unset::zero);

/// Copies the elements of "from" as a repacking says; "bytes" is the size of one.
void repack(const Repacking& repacking, const std::byte* from, std::byte* to, long bytes);

}  // namespace lathe
