// moves.cpp: what neural steps can do next. Interface: moves.h.
#include "search/moves.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "nest/roles.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

/// A loop of the statement that moves act on.
struct MovedLoop {
  std::string name;
  long extent;
  CoordinateRole role;
  bool in_groups;  // filters that read their own channels: a loop over groups

  bool is_written() const {
    return role == CoordinateRole::filter || role == CoordinateRole::position;
  }
  bool is_filter() const { return role == CoordinateRole::filter && !in_groups; }
};

/// Returns the name of a loop as steps say it: with the statement, where another has it, too.
std::string said(const Nest& nest, size_t statement, const std::string& loop) {
  for (size_t s = 0; s < nest.order.size(); ++s) {
    if (s != statement && find_loop(nest.order[s], loop)) {
      return nest.statements()[statement].name + ":" + loop;
    }
  }
  return loop;
}

bool reads_input_at(const Nest& nest, const Statement& s, size_t loop) {
  return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& access) {
    return nest.tensors()[access.tensor].role != Role::weight && poly::involves(access.at, loop);
  });
}

/// What a neural step acts on: a loop, or a half of one that is split.
struct Part {
  size_t loop;
  long split = 0;  // 0: the whole loop
  bool inner = true;
};

/// Finds the moves on one statement.
class MoveFinder {
 public:
  MoveFinder(const Nest& nest, NeuralTarget target, const MoveOptions& options)
      : options_(options) {
    for (size_t i = 0; i < target.order.loops.size(); ++i) {
      const Loop& loop = target.order.loops[i];
      CoordinateRole role = role_of(target.statement, nest.tensors(), i);
      bool in_groups = role == CoordinateRole::filter && reads_input_at(nest, target.statement, i);
      loops_.push_back({said(nest, target.index, loop.name), loop.extent, role, in_groups});
      is_batch_.push_back(loop.name == batch_loop);
    }
  }

  std::vector<Move> find() {
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (is_batch_[i]) continue;
      for (long factor : factors_of(loops_[i].extent)) narrow(i, factor);
      for (size_t j = i + 1; j < loops_.size(); ++j) {
        if (is_batch_[j]) continue;
        for (long factor : factors_of(std::gcd(loops_[i].extent, loops_[j].extent))) {
          slice(i, j, factor);
        }
      }
      for (long factor : factors_of(loops_[i].extent)) slice_halves(i, factor);
    }
    std::stable_sort(moves_.begin(), moves_.end(),
                     [](const Move& a, const Move& b) { return a.steps.size() < b.steps.size(); });
    return std::move(moves_);
  }

 private:
  MoveOptions options_;
  std::vector<MovedLoop> loops_;
  std::vector<bool> is_batch_;
  std::vector<Move> moves_;

  std::vector<long> factors_of(long extent) const {
    std::vector<long> all = divisors(extent);
    std::erase_if(all, [&](long f) { return f > options_.factor && f != extent; });
    return all;
  }

  /// Returns the sizes by which a loop is split, so that slices of its inner half are other ones
  /// than those of the loop: neighbouring iterations are in different slices, or there are as many
  /// blocks as slices.
  std::vector<long> splits(size_t loop, long slices) const {
    long extent = loops_[loop].extent, blocks = extent / slices;
    std::vector<long> sizes;
    if (slices < extent) sizes.push_back(slices);
    if (blocks > slices && blocks % slices == 0) sizes.push_back(blocks);
    return sizes;
  }

  /// Returns the program steps that make these parts the outermost loops.
  Recipe outermost(const std::vector<Part>& parts) const {
    Recipe steps;
    std::vector<std::string> names;
    for (const MovedLoop& loop : loops_) names.push_back(loop.name);
    std::set<size_t> split;
    for (const Part& part : parts) {
      if (part.split == 0 || !split.insert(part.loop).second) continue;
      const std::string& name = loops_[part.loop].name;
      steps.push_back({"split", {name, part.split}});
      auto at = std::find(names.begin(), names.end(), name);
      *at = name + ".o";
      names.insert(at + 1, name + ".i");
    }
    for (size_t place = 0; place < parts.size(); ++place) {
      const Part& part = parts[place];
      std::string wanted = loops_[part.loop].name;
      if (part.split > 0) wanted += part.inner ? ".i" : ".o";
      if (names[place] == wanted) continue;
      steps.push_back({"interchange", {names[place], wanted}});
      std::swap(names[place], *std::find(names.begin(), names.end(), wanted));
    }
    return steps;
  }

  /// Adds a move on these parts, unless it takes too many program steps.
  void add(const std::vector<Part>& parts, Step neural, Move move) {
    move.steps = outermost(parts);
    if (move.steps.size() > options_.program) return;
    move.steps.push_back(std::move(neural));
    moves_.push_back(std::move(move));
  }

  /// The same, where it does not matter which of two parts is the outer one.
  void add_either(const Part& a, const Part& b, Step neural, Move move) {
    bool swap = outermost({b, a}).size() < outermost({a, b}).size();
    add(swap ? std::vector{b, a} : std::vector{a, b}, std::move(neural), std::move(move));
  }

  /// Adds moves that leave a loop fewer iterations.
  void narrow(size_t i, long factor) {
    const MovedLoop& loop = loops_[i];
    Step plain{"bottleneck", {factor}}, repeat{"bottleneck", {factor, "repeat"}};
    MoveSort sort = loop.in_groups ? MoveSort::rare : MoveSort::filters;
    switch (loop.role) {
      case CoordinateRole::filter:
        // Without some groups, what they read is lost, too: a move of its own.
        for (const char* completion : {"expand", "deepen"}) {
          add({{i}}, {"bottleneck", {factor, completion}}, {{}, sort, factor, i, true});
        }
        add({{i}}, repeat, {{}, sort, factor, i});
        for (long size : splits(i, factor)) {
          add({{i, size}}, repeat, {{}, MoveSort::rare, factor, i});
        }
        break;
      case CoordinateRole::channel:
        add({{i}}, plain, {{}, MoveSort::reads, factor, i});
        for (long size : splits(i, factor)) {
          add({{i, size}}, plain, {{}, MoveSort::rare, factor, i});
        }
        break;
      case CoordinateRole::position:
        // Every n-th iteration is left: of the inner half these are those of the whole loop.
        add({{i}}, repeat, {{}, MoveSort::position, factor, i});
        for (long size : splits(i, factor)) {
          if (loop.extent / size % factor == 0) {
            add({{i, size, false}}, repeat, {{}, MoveSort::rare, factor, i});
          }
        }
        break;
      default:
        add({{i}}, plain, {{}, MoveSort::rare, factor, i});
    }
  }

  /// Adds moves that slice two loops.
  void slice(size_t i, size_t j, long groups) {
    const MovedLoop &a = loops_[i], &b = loops_[j];
    if (a.is_written() && b.is_written()) {
      // What is filled in for the rest depends on which of them is the outer one.
      Step repeat{"group", {groups, "repeat"}};
      add({{i}, {j}}, repeat, {{}, MoveSort::rare, groups});
      add({{j}, {i}}, repeat, {{}, MoveSort::rare, groups});
      return;
    }
    if (b.is_filter()) std::swap(i, j);
    const MovedLoop &first = loops_[i], &second = loops_[j];
    bool of_channels = second.role == CoordinateRole::channel;
    bool of_filters = first.is_filter() && of_channels;
    bool all = first.extent == groups && second.extent == groups;
    Step plain{"group", {groups}};
    MoveSort sort = of_filters                                              ? MoveSort::group
                    : of_channels && first.role == CoordinateRole::position ? MoveSort::stripe
                                                                            : MoveSort::rare;
    add_either({i}, {j}, plain, {{}, sort, groups, i, false, all});
    if (of_filters) add_mixed({i}, {j}, {{}, sort, groups, i, true, all});
    for (long size : splits(j, groups)) {
      bool plain_shuffle = of_filters && size == groups;
      MoveSort split_sort = plain_shuffle ? MoveSort::shuffle : MoveSort::rare;
      add_either({i}, {j, size}, plain, {{}, split_sort, groups, i});
      if (plain_shuffle) add_mixed({i}, {j, size}, {{}, split_sort, groups, i, true});
    }
    for (long size : splits(i, groups)) {
      add_either({i, size}, {j}, plain, {{}, MoveSort::rare, groups, i});
    }
    if (groups < first.extent && groups < second.extent) {
      add_either({i, groups}, {j, groups}, plain, {{}, MoveSort::rare, groups, i});
    }
  }

  /// Adds groups whose channels a 1x1 convolution mixes again.
  void add_mixed(const Part& a, const Part& b, const Move& move) {
    for (const char* completion : {"expand", "deepen"}) {
      add_either(a, b, {"group", {move.factor, completion}}, move);
    }
  }

  /// Adds moves that slice the two halves of one loop.
  void slice_halves(size_t i, long groups) {
    bool written = loops_[i].is_written();
    Step step{"group", {groups}};
    if (written) step.args.push_back("repeat");
    for (long size : splits(i, groups)) {
      if (loops_[i].extent / size % groups != 0) continue;
      Part outer{i, size, false}, inner{i, size, true};
      add({outer, inner}, step, {{}, MoveSort::rare, groups, i});
      if (written) add({inner, outer}, step, {{}, MoveSort::rare, groups, i});
    }
  }
};

}  // namespace

std::vector<Move> moves_on(const Nest& nest, const MoveOptions& options) {
  auto target = try_take_target(nest);
  if (!target) return {};
  return MoveFinder(nest, std::move(*target), options).find();
}

std::vector<Step> cuts_of(const Nest& nest) {
  auto target = try_take_target(nest);
  if (!target) return {};
  std::vector<Step> cuts;
  // The published sequence leaves 16 filters as they are.
  constexpr long first_filters = 16;
  for (size_t i = 0; i < target->order.loops.size(); ++i) {
    const Loop& loop = target->order.loops[i];
    bool filter = role_of(target->statement, nest.tensors(), i) == CoordinateRole::filter &&
                  !reads_input_at(nest, target->statement, i);
    if (!filter) continue;
    std::string name = said(nest, target->index, loop.name);
    for (Fraction part : {Fraction{1, 2}, Fraction{1, 4}}) {
      if (loop.extent % part.denominator != 0 || loop.extent < 2 * part.denominator) continue;
      cuts.push_back({"split_range", {name, part}});
    }
    if (loop.extent > first_filters) cuts.push_back({"unroll", {name, first_filters}});
  }
  return cuts;
}

std::optional<Step> next_statement(const Nest& nest) {
  auto target = find_target(nest);
  if (!target) return std::nullopt;
  std::vector<size_t> in_order = sequence(nest.order);
  auto at = std::find(in_order.begin(), in_order.end(), *target);
  for (++at; at != in_order.end(); ++at) {
    size_t s = *at;
    const Statement& statement = nest.statements()[s];
    bool own = statement.update != Update::assign && !statement.origin.statement.empty();
    bool apart =
        !nest.order[s].loops.empty() && shared_loops(nest.order[*target], nest.order[s]) == 0;
    if (!own || !apart) continue;
    auto name = [&](size_t i) { return said(nest, i, nest.order[i].loops.front().name); };
    return Step{"interchange", {name(*target), name(s)}};
  }
  return std::nullopt;
}

}  // namespace lathe
