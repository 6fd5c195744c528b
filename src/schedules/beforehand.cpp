// beforehand.cpp: sums of products whose factors are made of whole tensors first: what quantize
// makes of a layer.
//
//   M = greatest of I, J = I as integers        each with vectors along memory, as template
//                                               "elements" has it
//   S[co, oh, ow] += V[co, ci] * J[ci, oh, ow]  as template "panels", "contraction" or "window"
//   O[co, oh, ow] += S[co, oh, ow] * M * ...    has it, for factors that are there
//
// What is made of weights alone is a weight for the second half: it is packed.
#include <algorithm>
#include <set>

#include "nest/dependence.h"
#include "nest/sources.h"
#include "schedules/schedule_choices.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// The statements that make factors, and all others.
struct MadeBefore {
  std::set<size_t> tensors;
  std::vector<size_t> before, after;
};

bool adds_products_of(const Statement& s) {
  return s.update == Update::add && s.reads.size() > 1 && is_product(s.value);
}

/// Finds what makes the factors of the main statement. It must need a whole tensor first: what
/// becomes one factor after the other need not be apart. And it is no sum of products itself.
std::optional<MadeBefore> made_before(const Nest& nest) {
  size_t main = main_statement(nest);
  const Statement& product = nest.statements()[main];
  if (!adds_products_of(product)) return std::nullopt;
  std::set<size_t> factors;
  for (const Access& read : product.reads) {
    if (nest.tensors()[read.tensor].role == Role::local) factors.insert(read.tensor);
  }
  MadeBefore found{with_sources(nest, factors), {}, {}};
  bool needs_whole = false;
  long last = -1;
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    if (!found.tensors.contains(s.write.tensor)) {
      found.after.push_back(i);
      continue;
    }
    if (adds_products_of(s)) return std::nullopt;
    needs_whole = needs_whole || s.update != Update::assign;
    last = std::max(last, nest.order[i].at[0]);
    found.before.push_back(i);
  }
  bool apart = last < nest.order[main].at[0];
  return needs_whole && apart ? std::optional(found) : std::nullopt;
}

/// Returns the nest of some statements. The tensors of factors are given to it, or come out of it.
Nest half_of(const Nest& nest, const std::vector<size_t>& chosen, const std::set<size_t>& factors,
             bool given) {
  std::vector<Tensor> tensors = nest.tensors();
  for (size_t t : factors) {
    tensors[t].role = !given ? Role::output : is_of_weights(nest, t) ? Role::weight : Role::input;
  }
  std::vector<Statement> statements;
  std::vector<Order> order;
  for (size_t i : chosen) {
    statements.push_back(nest.statements()[i]);
    order.push_back(nest.order[i]);
  }
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

const Schedule& schedule_named(const std::string& name) {
  auto is_it = [&](const Schedule& schedule) { return schedule.name == name; };
  return *std::find_if(all().begin(), all().end(), is_it);
}

/// Returns what a template writes for a half; what can be chosen there can be chosen here.
std::optional<Written> written_by(const std::string& name, const Situation& half,
                                  Choices& choices) {
  const Schedule& schedule = schedule_named(name);
  Settings settings;
  for (const Knob& knob : schedule.knobs(half)) {
    std::vector<long> others(knob.values.begin() + 1, knob.values.end());
    long chosen = choices.choose(knob.name, knob.values.front(), others);
    if (chosen != knob.values.front()) settings[knob.name] = chosen;
  }
  auto written = schedule.recipe(half, settings);
  if (!written) return std::nullopt;
  for (const Nest& nest : written->nests) {
    if (judge_order(nest).violation) return std::nullopt;
  }
  return written;
}

/// Gives the loops that make factors names that no other loop has.
void set_names_apart(RecipeWriter& writer, const MadeBefore& parts) {
  std::set<std::string> taken;
  for (size_t i : parts.after) {
    for (const Loop& loop : writer.nest().order[i].loops) taken.insert(loop.name);
  }
  for (size_t i : parts.before) {
    for (const Loop& loop : std::vector<Loop>(writer.nest().order[i].loops)) {
      if (!taken.contains(loop.name)) continue;
      writer.step("rename", {writer.nest().statements()[i].name + ":" + loop.name,
                             fresh_name(writer.nest(), loop.name + ".before")});
    }
  }
}

std::optional<Written> write(const Situation& s, Choices& choices) {
  auto parts = made_before(s.nest);
  if (!parts) return std::nullopt;
  RecipeWriter writer(s.nest);
  set_names_apart(writer, *parts);
  Nest first = half_of(writer.nest(), parts->before, parts->tensors, false);
  Nest second = half_of(writer.nest(), parts->after, parts->tensors, true);
  Situation after{second, s.layouts, s.target, s.max_error};
  std::optional<Written> main;
  for (const char* name : {"panels", "contraction", "window"}) {
    Choices trial = choices;
    if (main || !(main = written_by(name, after, trial))) continue;
    choices = trial;
  }
  if (!main) return std::nullopt;
  Choices own({});  // what is chosen is about the statement with most work
  auto factors = written_by("elements", {first, s.layouts, s.target, s.max_error}, own);
  if (!factors) return std::nullopt;
  for (const Written& half : {*factors, *main}) {
    for (const Step& step : half.recipe) writer.step(step.name, step.args);
  }
  return writer.written();
}

}  // namespace

Schedule beforehand() {
  return {"beforehand", "sums of products whose factors are made of whole tensors first",
          Schedule::For::kind, write};
}

}  // namespace lathe::schedules
