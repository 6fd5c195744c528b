// Schedules: each file X.cpp of this folder is a template that writes the recipe of a nest from its
// shape, the layouts of its tensors and the target. What it writes is judged like any recipe.
//
//   contraction   split(co, 16) -> split(ow, 4) -> reorder(co.o, oh, ow.o, ci, kh, kw, ...) -> ...
//
// A nest is seen by the roles of its loops (schedule_roles.h), never by its operator's name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/layout.h"
#include "codegen/target.h"
#include "nest/nest.h"
#include "nest/step.h"

namespace lathe {

/// What a template sees. The nest sets what it adds to (with_starts() of nest/starts.h).
struct Situation {
  const Nest& nest;
  const std::vector<Layout>& layouts;  ///< of each tensor
  const Target& target;
};

/// A recipe, and the nests that have to be judged: as they are before each step that changes the
/// meaning, and at the end.
struct Written {
  Recipe recipe;
  std::vector<Nest> nests;
};

struct Schedule {
  /// For nests that fewer products do, of one kind, or for any: tried in this order.
  enum class For { fewer, kind, any };
  std::string name;
  std::string summary;  ///< one line
  For scope;
  /// Returns the recipe; nothing if the template is not for this nest.
  std::optional<Written> (*recipe)(const Situation& situation);
};

namespace schedules {
/// Returns every template, sorted by name.
const std::vector<Schedule>& all();
}  // namespace schedules

/// A recipe, the nest that it makes, and the template that wrote it; "" where none fits, and the
/// loops run as they are.
struct Scheduled {
  std::string name;
  Recipe recipe;
  Nest nest;
};

/// Returns the first template's recipe that can be applied and keeps all dependences.
Scheduled schedule(const Situation& situation);

}  // namespace lathe
