// Schedules: each file X.cpp of this folder is a template that writes the recipe of a nest from its
// shape, the layouts of its tensors and the target. What it writes is judged like any recipe.
//
//   contraction   split(co, 16) -> split(ow, 4) -> reorder(co.o, oh, ow.o, ci, kh, kw, ...) -> ...
//
// A nest is seen by the roles of its loops (schedule_roles.h), never by its operator's name. What a
// template decides by its own cost model it offers as knobs: a search may set them otherwise.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/layout.h"
#include "codegen/target.h"
#include "nest/nest.h"
#include "nest/step.h"

namespace lathe {

/// The limit that allows any rounding.
inline constexpr double any_error = std::numeric_limits<double>::infinity();

/// What a template sees. In the nest, statements set each sum to its first value: with_starts() of
/// nest/starts.h put them there.
struct Situation {
  const Nest& nest;
  const std::vector<Layout>& layouts;  ///< of each tensor
  const Target& target;
  double max_error = any_error;  ///< what steps may round
};

/// A recipe, and the nests that have to be judged. These are the nest before each step that changes
/// the meaning, and the nest at the end.
struct Written {
  Recipe recipe;
  std::vector<Nest> nests;
  double error = 0;  ///< the largest error of its algebraic steps (Applied::error)
};

/// A number in a template's recipe that a search may choose.
struct Knob {
  std::string name;
  std::vector<long> values;  ///< the first is what the template itself chooses
};

/// Values of knobs, by name; the template chooses those that are missing.
using Settings = std::map<std::string, long>;

namespace schedules {
class Choices;
}

struct Schedule {
  /// What a template is for. Templates are tried in this order.
  enum class For {
    fewer,  ///< nests that can be computed with fewer products
    unit,   ///< nests that a unit of some machines is for
    kind,   ///< one kind of nest
    any,    ///< any nest
  };
  std::string name;
  std::string summary;  ///< one line
  For scope;
  /// Writes the recipe; nothing if the template does not suit the nest. It asks "choices" for each
  /// number, and tells which other numbers are possible (schedule_choices.h).
  std::optional<Written> (*write)(const Situation& situation, schedules::Choices& choices);
  /// Is the template likely quicker than those after it? Null: yes. A search may still choose a
  /// template that is not.
  bool (*is_worth_it)(const Situation& situation) = nullptr;
  /// The machines that a template writes recipes for: those whose threads run together, or not.
  enum class Machines { cpus, gpus };
  Machines machines = Machines::cpus;

  /// Returns the knobs of the template for a nest. There are none if it does not suit the nest.
  std::vector<Knob> knobs(const Situation& situation) const;
  /// Returns the recipe. Returns nothing if the template does not suit the nest, or if a setting
  /// does not suit it.
  std::optional<Written> recipe(const Situation& situation, const Settings& settings) const;
};

namespace schedules {
/// Returns every template, sorted by name.
const std::vector<Schedule>& all();
}  // namespace schedules

/// A template and its settings.
struct Choice {
  std::string schedule;
  Settings settings;

  friend bool operator==(const Choice&, const Choice&) = default;
  friend bool operator<(const Choice& a, const Choice& b) {
    return std::tie(a.schedule, a.settings) < std::tie(b.schedule, b.settings);
  }
};

/// A recipe, the nest that it makes, and the name of the template that wrote it. If no template
/// fits, the name is "" and the loops stay as they are.
struct Scheduled {
  std::string name;
  Recipe recipe;
  Nest nest;
  bool as_chosen = false;  ///< was a choice given, and does this follow it?
};

/// Returns the recipe of the choice, if one is given and fits. Otherwise it returns the recipe of
/// the first template that fits. A recipe fits if all its steps apply, if it breaks no dependence
/// and if it rounds no more than "max_error".
Scheduled schedule(const Situation& situation, const std::optional<Choice>& choice = std::nullopt,
                   double max_error = any_error);

/// A template that fits a nest, and its knobs there.
struct Fitting {
  std::string schedule;
  std::vector<Knob> knobs;
  Schedule::For scope = Schedule::For::kind;
};

/// Returns the templates that fit. The one that schedule() takes comes first. Those that are not
/// worth it come last.
std::vector<Fitting> fitting_schedules(const Situation& situation);

}  // namespace lathe
