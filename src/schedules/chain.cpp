// chain.cpp: windows that slide over each channel of what a sum of products gives: a depthwise
// convolution after a 1x1 one.
//
//   for c.o:                                    blocks of channels: parallel
//     border                                    T has zeros around it
//     for oh:                                   rows in turns, where windows do not need the next
//       T[c, h, w] = relu(sum of W * I)         as template "contraction" has it
//       O[c, oh, ow] = sum of V * T             as template "window" has it
//
// T holds one block of channels, and is read while it is in a cache. How the two halves are cut is
// left to the templates for each alone; this one brings their loops together.
#include <algorithm>
#include <set>

#include "nest/dependence.h"
#include "nest/sources.h"
#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// What a search may try: rows of windows in a turn; 0 is all. They divide usual images.
const std::vector<long> possible_bands = {0, 2, 4, 7, 8, 14, 16};

/// The statements of a nest by what they do, and the tensor between the two halves.
struct Halves {
  size_t between = 0;
  std::vector<size_t> border, first, second;
};

/// Returns the local tensor that a statement sums up with weights, if it does so.
std::optional<size_t> summed_local(const Nest& nest, const Statement& s) {
  if (s.update != Update::add || s.reads.size() != 2) return std::nullopt;
  for (size_t i : {0, 1}) {
    size_t data = s.reads[i].tensor, weight = s.reads[1 - i].tensor;
    if (nest.tensors()[data].role == Role::local && nest.tensors()[weight].role == Role::weight) {
      return data;
    }
  }
  return std::nullopt;
}

std::optional<Halves> halves_of(const Nest& nest) {
  Halves halves;
  bool found = false;
  for (const Statement& s : nest.statements()) {
    auto local = summed_local(nest, s);
    if (!local) continue;
    if (found) return std::nullopt;  // a chain of three
    halves.between = *local;
    found = true;
  }
  if (!found) return std::nullopt;
  std::set<size_t> made = with_sources(nest, {halves.between});
  bool sums = false;
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    bool is_between = s.write.tensor == halves.between;
    if (is_between && s.update != Update::assign) return std::nullopt;
    bool is_first = made.contains(s.write.tensor);
    sums = sums || (is_first && s.update == Update::add);
    auto& group = !is_first                       ? halves.second
                  : is_between && s.reads.empty() ? halves.border
                                                  : halves.first;
    group.push_back(i);
  }
  return sums ? std::optional(halves) : std::nullopt;
}

/// Returns the nest of some statements, for which the tensor between the halves is no local one.
Nest part_of(const Nest& nest, const std::vector<size_t>& chosen, size_t between, Role role) {
  std::vector<Tensor> tensors = nest.tensors();
  tensors[between].role = role;
  std::vector<Statement> statements;
  std::vector<Order> order;
  for (size_t i : chosen) {
    statements.push_back(nest.statements()[i]);
    order.push_back(nest.order[i]);
  }
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

const Schedule& template_named(const std::string& name) {
  auto is_it = [&](const Schedule& schedule) { return schedule.name == name; };
  return *std::find_if(all().begin(), all().end(), is_it);
}

class Writing {
 public:
  Writing(const Situation& s, Choices& choices, Halves halves)
      : s_(s), choices_(choices), halves_(std::move(halves)), writer_(s.nest) {}

  std::optional<Written> run() {
    sum_ = main_of(halves_.first);
    window_ = main_of(halves_.second);
    samples_ = samples_loop(s_.nest, window_);
    set_apart(samples_loop(s_.nest, sum_));
    // Before anything is packed: that has no layout yet.
    window_roles_ = roles_of({writer_.nest(), s_.layouts, s_.target}, window_);
    last_roles_ = roles_of({writer_.nest(), s_.layouts, s_.target}, last_of_first());
    Nest first = part_of(writer_.nest(), halves_.first, halves_.between, Role::output);
    Nest second = part_of(writer_.nest(), halves_.second, halves_.between, Role::input);
    // All rows of a block of channels, and all terms of their sums, before the next block.
    Settings whole{{"parts", 1}, {"stay", 1}, {"blocks", 1}};
    if (!write_half("contraction", first, "first_", whole)) return std::nullopt;
    if (!write_half("window", second, "", {})) return std::nullopt;
    if (!share_channels()) return std::nullopt;
    share_rows();
    writer_.share({is_batched() ? samples_ : "", channels_}, s_.target);
    for (const Step& step : packs_) writer_.step(step.name, step.args);
    return writer_.written();
  }

 private:
  const Situation& s_;
  Choices& choices_;
  Halves halves_;
  RecipeWriter writer_;
  size_t sum_ = 0, window_ = 0;  // the statements that do the work
  std::vector<Step> packs_;      // what packs weights runs apart: it comes last
  Roles window_roles_{}, last_roles_{};
  std::string samples_;   // the loop that counts them; "" if there is one sample
  std::string channels_;  // the loop over blocks of them

  const std::string& name(size_t statement) const { return s_.nest.statements()[statement].name; }
  std::string in(size_t statement, const std::string& loop) const {
    return name(statement) + ":" + loop;
  }
  const std::vector<Loop>& loops(size_t statement) const {
    return writer_.nest().order[statement].loops;
  }

  /// Gives the loops of the first half names of their own, but for the one that counts samples: it
  /// is called as in the second half.
  void set_apart(const std::string& samples) {
    for (size_t i : halves_.first) {
      for (const Loop& loop : std::vector<Loop>(loops(i))) {
        bool same = !samples_.empty() && loop.name == samples;
        std::string name = same ? samples_ : loop.name + ".in";
        if (loop.name != name) writer_.step("rename", {in(i, loop.name), name});
      }
    }
    for (const OtherName& other : other_names(writer_.nest(), sum_)) {
      bool is_first = std::ranges::find(halves_.first, other.statement) != halves_.first.end();
      if (is_first && other.whole) rename_loop(writer_, other);
    }
  }

  /// Writes the recipe of a half as a template does that knows no other; workers come later. What
  /// can be chosen about its tile can be chosen here.
  bool write_half(const std::string& schedule, const Nest& nest, const std::string& prefix,
                  Settings settings) {
    Situation alone{nest, s_.layouts, s_.target, s_.max_error};
    const Schedule& half = template_named(schedule);
    for (const Knob& knob : half.knobs(alone)) {
      if (knob.name == "chunk") settings["chunk"] = std::ranges::max(knob.values);
      if (knob.name != "positions" && knob.name != "unroll") continue;
      std::vector<long> others(knob.values.begin() + 1, knob.values.end());
      long chosen = choices_.choose(prefix + knob.name, knob.values.front(), others);
      if (chosen != knob.values.front()) settings[knob.name] = chosen;
    }
    auto written = half.recipe(alone, settings);
    if (!written) return false;
    for (const Step& step : written->recipe) {
      if (step.name == "pack") {
        packs_.push_back(step);
      } else if (step.name != "parallel") {
        writer_.step(step.name, step.args);
      }
    }
    return true;
  }

  size_t main_of(const std::vector<size_t>& statements) const {
    for (size_t i : statements) {
      if (s_.nest.statements()[i].update == Update::add) return i;
    }
    return statements.front();
  }

  /// Returns the statement that sets what is between the halves.
  size_t last_of_first() const {
    return *std::find_if(halves_.first.begin(), halves_.first.end(), [&](size_t i) {
      return s_.nest.statements()[i].write.tensor == halves_.between;
    });
  }

  /// Returns how many loops over samples come first.
  size_t batch(size_t statement) const { return loops(statement).front().name == samples_ ? 1 : 0; }

  /// Brings both halves, and the border, into one loop over blocks of channels; returns whether
  /// they count alike.
  bool share_channels() {
    for (size_t i : {sum_, window_}) {
      if (loops(i).size() < batch(i) + 2) return false;
    }
    Loop of_sum = loops(sum_)[batch(sum_)], of_window = loops(window_)[batch(window_)];
    if (of_sum.extent != of_window.extent) return false;
    channels_ = of_window.name;
    writer_.step("rename", {of_sum.name, channels_});
    for (size_t i : halves_.border) {
      if (!cut_border(i)) return false;
    }
    writer_.merge({samples_, channels_});
    return true;
  }

  /// Gives a statement that sets the border the loop over blocks of channels, and vectors of them.
  bool cut_border(size_t i) {
    Roles roles = roles_of(s_, i);
    auto along = std::find_if(roles.loops.begin(), roles.loops.end(), [](const LoopRole& loop) {
      return loop.write.step == 1 && loop.write.evenly > 0;
    });
    if (along == roles.loops.end()) return false;
    auto [blocks, inside] = std::pair(along->name + ".o", along->name + ".i");
    writer_.step("split", {in(i, along->name), along->write.evenly});
    std::vector<Arg> order;
    if (is_batched()) {
      const std::string& first = roles.loops.front().name;
      if (first != samples_) writer_.step("rename", {in(i, first), samples_});
      order.emplace_back(in(i, samples_));
    }
    writer_.step("rename", {in(i, blocks), channels_});
    order.emplace_back(in(i, channels_));
    for (const Loop& loop : loops(i)) {
      bool placed = loop.name == samples_ || loop.name == channels_ || loop.name == inside;
      if (!placed) order.emplace_back(in(i, loop.name));
    }
    order.emplace_back(in(i, inside));
    writer_.step("reorder", std::move(order));
    writer_.step("vectorize", {in(i, inside)});
    return true;
  }

  bool is_batched() const { return batch(window_) == 1; }

  /// Returns by how many rows of what is between the halves a row of windows moves; 0 if these
  /// loops are not their rows.
  long stride(const std::string& rows, const std::string& rows_in) const {
    const LoopRole *row = window_roles_.find(rows), *written = last_roles_.find(rows_in);
    if (row == nullptr || written == nullptr || written->write.step == 0) return 0;
    const Statement& window = s_.nest.statements()[window_];
    size_t data = window.reads[0].tensor == halves_.between ? 0 : 1;
    return row->reads[data].step / written->write.step;
  }

  /// Runs the halves in turns, some rows each, where windows need no rows of the next turn. How
  /// many rows a turn has makes no difference to that.
  void share_rows() {
    auto turns = in_turns(1);
    if (!turns) return;
    long rows = loops(window_)[batch(window_) + 1].extent;
    long band = choices_.choose("band", 1, within(possible_bands, 0, rows - 1));
    if (band > 1) turns = in_turns(band);
    if (band > 0 && turns) writer_ = *turns;
  }

  /// Returns what is written once the halves take turns of so many rows of windows; nothing if they
  /// cannot.
  std::optional<RecipeWriter> in_turns(long band) const {
    std::string rows = loops(window_)[batch(window_) + 1].name;
    std::string rows_in = loops(sum_)[batch(sum_) + 1].name;
    long step = band * stride(rows, rows_in);
    if (step == 0) return std::nullopt;
    RecipeWriter writer = writer_;
    if (band > 1) rows = writer.split(rows, band).first;
    if (step > 1) rows_in = writer.split(rows_in, step).first;
    if (rows.empty() || rows_in.empty()) return std::nullopt;
    writer.step("rename", {rows_in, rows});
    writer.merge({rows});
    if (judge_order(writer.nest()).violation) return std::nullopt;
    return writer;
  }
};

std::optional<Written> write(const Situation& s, Choices& choices) {
  auto halves = halves_of(s.nest);
  if (!halves) return std::nullopt;
  return Writing(s, choices, std::move(*halves)).run();
}

}  // namespace

Schedule chain() {
  return {"chain", "windows over each channel of a sum of products", Schedule::For::kind, write};
}

}  // namespace lathe::schedules
