// schedule_convolution.cpp: the roles of a convolution's loops. Interface: schedule_convolution.h.
#include "schedules/schedule_convolution.h"

#include "base/error.h"
#include "nest/slide.h"
#include "schedules/schedule_product.h"

namespace lathe::schedules {
namespace {

/// Returns the windows that slide along loops of a statement, if two do.
std::optional<Sliding> sliding_of(const Nest& nest, size_t statement) {
  try {
    Sliding sliding =
        find_sliding(rebased(nest.statements()[statement], nest.order[statement]).first);
    return sliding.slides.size() == 2 ? std::optional(sliding) : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// Returns where the name of a loop belongs that no window has.
std::string& place_of(const LoopRole& loop, const Sliding& sliding, ConvolutionLoops& loops) {
  if (!loop.write.moves) return loops.channels;
  if (!loop.reads[sliding.weight].moves) return loops.samples;
  return loop.reads[sliding.data].moves ? loops.groups : loops.filters;
}

}  // namespace

std::optional<Convolution> convolution_of(const Situation& s) {
  size_t main = main_statement(s.nest);
  auto sliding = sliding_of(s.nest, main);
  if (!sliding) return std::nullopt;
  size_t weight = s.nest.statements()[main].reads[sliding->weight].tensor;
  if (s.nest.tensors()[weight].role != Role::weight) return std::nullopt;
  Roles roles = roles_of(s, main);
  Convolution found;
  ConvolutionLoops& loops = found.loops;
  for (size_t i : sliding->others) {
    std::string& name = place_of(roles.loops[i], *sliding, loops);
    if (!name.empty()) return std::nullopt;
    name = roles.loops[i].name;
  }
  if (loops.filters.empty() || loops.channels.empty()) return std::nullopt;
  auto steps = [&](const std::string& loop) {
    return loop.empty() ? 0 : roles.find(loop)->reads[sliding->data].step;
  };
  bool shuffled = steps(loops.channels) != 1;
  if (shuffled && steps(loops.groups) != 1) return std::nullopt;
  const Slide &rows = sliding->slides[0], &columns = sliding->slides[1];
  loops.rows = roles.loops[rows.position].name;
  loops.columns = roles.loops[columns.position].name;
  loops.window_rows = roles.loops[rows.window].name;
  loops.window_columns = roles.loops[columns.window].name;
  auto extent = [&](const std::string& loop) {
    return loop.empty() ? 1 : roles.find(loop)->extent;
  };
  found.shape = {extent(loops.groups),         extent(loops.filters), extent(loops.channels),
                 extent(loops.rows),           extent(loops.columns), extent(loops.window_rows),
                 extent(loops.window_columns), extent(loops.samples)};
  if (shuffled) found.shape.together = found.shape.groups;
  if (multiplies_halves(s, main)) found.shape.element = size_of(Element::f16);
  long terms = terms_of_dot(s, main, sliding->weight);
  found.shape.direct = terms > 0 ? found.shape.element / terms : found.shape.element;
  if (!shuffled) found.shape.terms = terms_of_panels(s, main, sliding->weight);
  return found;
}

}  // namespace lathe::schedules
