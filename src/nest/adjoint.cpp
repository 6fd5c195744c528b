// adjoint.cpp: gradients of nests. Interface: adjoint.h.
//
// Statements are visited last to first. Each adds to the gradients of what it reads, from the
// gradient of what it writes; the gradient of a tensor is complete when the first statement that
// writes it is reached.
#include "nest/adjoint.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "nest/adjoint_draft.h"
#include "nest/derivative.h"
#include "nest/gather.h"

namespace lathe {
namespace {

/// Is the value a multiple of this read, so that it is 0 where that is?
bool is_multiple(const Expr& value, size_t read) {
  using Op = Expr::Op;
  auto arg = [&](size_t i) { return is_multiple(value.args[i], read); };
  switch (value.op) {
    case Op::read:
      return value.read == read;
    case Op::neg:
    case Op::div:
      return arg(0);
    case Op::mul:
      return arg(0) || arg(1);
    case Op::add:
    case Op::sub:
      return arg(0) && arg(1);
    case Op::select:
      return arg(1) && arg(2);
    default:
      return is_number(value, 0);
  }
}

/// Is it quicker to compute the value again than to keep it? Products and quotients by numbers are.
bool is_light(const Expr& value) {
  using Op = Expr::Op;
  bool plain = value.op == Op::read || value.op == Op::number || value.op == Op::neg ||
               value.op == Op::mul || (value.op == Op::div && value.args[1].op == Op::number);
  return plain && std::all_of(value.args.begin(), value.args.end(), is_light);
}

class Adjoining : private AdjointDraft {
 public:
  Adjoining(const Nest& nest, size_t by)
      : AdjointDraft(nest, by),
        active_(count_, false),
        pending_(count_),
        summed_(count_, false),
        inlined_(count_) {}

  std::optional<Adjoint> run() {
    find_active();
    std::vector<size_t> order = sequence(nest_.order);
    begin_outputs();
    for (size_t i = order.size(); i-- > 0;) visit(nest_.statements()[order[i]]);
    complete(by_);
    if (!summed_[by_]) return std::nullopt;
    return finished();
  }

 private:
  std::vector<bool> active_;                     // does the tensor depend on what it is by?
  std::vector<std::vector<Statement>> pending_;  // that add to the gradient, not in the nest yet
  std::vector<bool> summed_;                     // has the nest statements that write the gradient?
  std::vector<std::optional<Statement>> inlined_;  // what the gradient is, if it is no tensor

  // Which tensors matter.

  void find_active() {
    active_[by_] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Statement& s : nest_.statements()) {
        bool reads = std::any_of(s.reads.begin(), s.reads.end(),
                                 [&](const Access& read) { return active_[read.tensor]; });
        if (!reads || active_[s.write.tensor]) continue;
        active_[s.write.tensor] = changed = true;
      }
    }
  }

  /// The gradients of outputs are given; of one that the nest reads itself, a copy is added to.
  void begin_outputs() {
    for (size_t t = 0; t < count_; ++t) {
      if (!is_output(t) || !active_[t]) continue;
      for (const Statement& s : nest_.statements()) {
        copied_[t] = copied_[t] || std::any_of(s.reads.begin(), s.reads.end(),
                                               [&](const Access& r) { return r.tensor == t; });
      }
      if (copied_[t]) pending_[t].push_back(copy_of_gradient(t));
    }
  }

  Statement whole(size_t t, const std::string& name) const {
    Statement s;
    s.name = name;
    s.domain = poly::box(nest_.ctx(), gradient_shape(t));
    for (size_t d = 0; d < gradient_shape(t).size(); ++d) s.dims.push_back(fmt::format("i{}", d));
    s.write = {gradient(t), poly::identity(s.domain.space())};
    s.update = Update::add;
    s.origin = {s.name, poly::identity(s.domain.space())};
    return s;
  }

  Statement copy_of_gradient(size_t t) {
    Tensor given = original(t);
    given.name = fresh("d" + given.name);
    given.role = Role::input;
    given_.push_back({t, add_extra(given)});
    Statement s = whole(t, "begin");
    s.reads = {{given_.back().tensor, poly::identity(s.domain.space())}};
    s.value = read(0);
    return without_units(s);
  }

  // Statements.

  void visit(const Statement& s) {
    size_t to = s.write.tensor;
    if (!active_[to]) return;
    bool is_given = is_output(to) && !copied_[to];
    if (!is_given) complete(to);
    if (!is_given && !summed_[to] && !inlined_[to]) return;
    check_overwrites(s);
    std::optional<Expr> picked;
    Statement seed = s;  // its reads are what derivatives are made of
    if (s.update == Update::maximum) picked = first_maximum(seed);
    // Reads of one element are one variable.
    std::vector<bool> done(s.reads.size(), false);
    for (size_t k = 0; k < s.reads.size(); ++k) {
      if (done[k] || !active_[s.reads[k].tensor]) continue;
      std::vector<bool> same(seed.reads.size(), false);
      for (size_t j = k; j < s.reads.size(); ++j) {
        same[j] =
            s.reads[j].tensor == s.reads[k].tensor && s.reads[j].at.plain_is_equal(s.reads[k].at);
        done[j] = done[j] || same[j];
      }
      Expr slope = derivative(s.value, [&](size_t read) { return bool(same[read]); });
      if (is_number(slope, 0)) continue;
      if (picked) slope = product_of(*picked, slope);
      contribute(seed, s.reads[k], slope, to);
    }
  }

  /// What overwrites elements would hide earlier values: no operator does.
  void check_overwrites(const Statement& s) const {
    if (s.update != Update::assign) return;
    for (const Statement& other : nest_.statements()) {
      bool matters = std::any_of(other.reads.begin(), other.reads.end(),
                                 [&](const Access& read) { return active_[read.tensor]; });
      if (&other == &s || other.write.tensor != s.write.tensor || !matters) continue;
      bool later = false;
      for (size_t i : sequence(nest_.order)) {
        if (&nest_.statements()[i] == &other) break;
        later = later || &nest_.statements()[i] == &s;
      }
      if (later) continue;
      long apart =
          poly::count_image(s.domain, s.write.at) + poly::count_image(other.domain, other.write.at);
      long together = poly::count_union({{s.domain, s.write.at}, {other.domain, other.write.at}});
      if (apart != together) {
        fail("no gradient of '{}': statement '{}' overwrites what '{}' wrote", nest_.name, s.name,
             other.name);
      }
    }
  }

  /// Adds  d(read) += slope * d(written).
  void contribute(const Statement& seed, const Access& access, const Expr& slope, size_t from) {
    Statement s = seed;
    size_t to = access.tensor;
    s.name = fmt::format("{}_by_{}", seed.name, original(to).name);
    s.update = Update::add;
    s.write = {gradient(to), access.at};
    if (to == by_) {
      std::vector<isl::aff> indices = poly::parts(access.at);
      for (size_t d = 0; d < indices.size(); ++d) {
        indices[d] = indices[d].add_constant(-original(to).pad[d].before);
      }
      s.write.at = poly::tuple(s.domain.space(), indices);
    }
    s.value = product_of(gradient_at(s, from, seed.write.at), slope);
    for (Statement& part : turned(with_used_reads(s))) pending_[to].push_back(std::move(part));
  }

  /// Returns the gradient of an element as an expression; adds the reads that it needs.
  Expr gradient_at(Statement& s, size_t t, const isl::multi_aff& at) const {
    if (!inlined_[t]) {
      s.reads.push_back({gradient(t), at});
      return read(s.reads.size() - 1);
    }
    const Statement& from = *inlined_[t];
    size_t first = s.reads.size();
    // Its coordinates are the tensor's dimensions.
    for (const Access& access : from.reads) {
      s.reads.push_back({access.tensor, access.at.pullback(at)});
    }
    return with_reads(from.value, [&](size_t k) { return read(first + k); });
  }

  static Statement with_used_reads(Statement s) {
    std::vector<Access> reads;
    std::vector<std::optional<size_t>> places(s.reads.size());
    s.value = with_reads(s.value, [&](size_t k) {
      if (!places[k]) {
        auto same = std::find_if(reads.begin(), reads.end(), [&](const Access& r) {
          return r.tensor == s.reads[k].tensor && r.at.plain_is_equal(s.reads[k].at);
        });
        places[k] = static_cast<size_t>(same - reads.begin());
        if (same == reads.end()) reads.push_back(s.reads[k]);
      }
      return read(*places[k]);
    });
    s.reads = std::move(reads);
    return s;
  }

  /// Turns overlapping windows around, where the value is a multiple of an operand that zeros may
  /// be read around: of a gradient that is given, or of another if that leaves fewer instances. (Of
  /// the gradient by a convolution's weight, the window is the small one.)
  std::vector<Statement> turned(const Statement& s) const {
    std::vector<long> shape = gradient_shape(s.write.tensor - count_);
    std::optional<std::vector<Statement>> best;
    long least = 0;
    for (bool given : {true, false}) {
      for (size_t k = 0; k < s.reads.size(); ++k) {
        size_t t = s.reads[k].tensor;
        bool is_given = t >= count_;
        if (is_given != given || !can_be_padded(t) || !is_multiple(s.value, k)) continue;
        std::vector<Statement> found = gathered(s, shape, k, shape_of(t));
        long instances = 0;
        for (const Statement& part : found) instances += poly::count(part.domain);
        if (best && instances >= least) continue;
        best = std::move(found);
        least = instances;
      }
    }
    return best ? *best : gathered(s, shape, 0, {});
  }

  /// Marks the first of equal maxima: returns what is 1 for the instance that it is.
  ///   R[f] max= select(value == O[f], rank, -1);    1 where R[f] == rank
  Expr first_maximum(Statement& s) {
    std::vector<size_t> free;
    std::vector<long> extents;
    std::vector<isl::aff> indices;
    for (size_t i = 0; i < s.dims.size(); ++i) {
      if (poly::involves(s.write.at, i)) continue;
      free.push_back(i);
      extents.push_back(poly::range(s.domain, i).upper + 1);
      indices.push_back(poly::coordinate(s.domain.space(), i));
    }
    long total = std::accumulate(extents.begin(), extents.end(), 1L, std::multiplies<>());
    Tensor rank{fresh("rank"), Role::constant, original(s.write.tensor).element, extents,
                std::vector<Pad>(extents.size())};
    for (long i = 0; i < total; ++i) rank.values.push_back(static_cast<double>(total - 1 - i));
    Tensor first = original(s.write.tensor);
    first.name = fresh("first");
    first.role = Role::local;
    size_t rank_id = add_extra(rank), first_id = add_extra(first);
    isl::multi_aff rank_at = poly::tuple(s.domain.space(), indices);
    Statement find = s;
    find.name = s.name + "_first";
    find.write.tensor = first_id;
    find.reads.push_back({s.write.tensor, s.write.at});
    find.reads.push_back({rank_id, rank_at});
    size_t n = find.reads.size();
    find.value = call(Expr::Op::select,
                      {call(Expr::Op::equal, {s.value, read(n - 2)}), read(n - 1), number(-1)});
    statements_.push_back(find);
    s.reads.push_back({first_id, s.write.at});
    s.reads.push_back({rank_id, rank_at});
    return call(Expr::Op::equal, {read(n - 2), read(n - 1)});
  }

  // Complete gradients.

  /// Returns the statement over the dimensions of what it writes, if it writes every element once.
  std::optional<Statement> over_elements(const Statement& s) const {
    std::vector<long> shape = gradient_shape(s.write.tensor - count_);
    if (!poly::is_box_from_zero(s.domain)) return std::nullopt;
    std::vector<poly::Interval> sides = *poly::sides(s.domain);
    isl::space space = poly::tuples(nest_.ctx(), shape.size());
    std::vector<std::optional<isl::aff>> old(s.dims.size());
    std::vector<std::string> names(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) {
      names[d] = fmt::format("i{}", d);
      isl::aff index = s.write.at.at(static_cast<int>(d));
      if (shape[d] == 1 && poly::take_apart(index).is_constant()) continue;
      bool found = false;
      for (size_t i = 0; i < s.dims.size() && !found; ++i) {
        if (!poly::same(index, poly::coordinate(s.domain.space(), i))) continue;
        if (old[i] || sides[i].size() != shape[d]) return std::nullopt;
        old[i] = poly::coordinate(space, d);
        names[d] = s.dims[i];
        found = true;
      }
      if (!found) return std::nullopt;
    }
    std::vector<isl::aff> parts;
    for (const auto& part : old) {
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    isl::multi_aff function = poly::tuple(space, parts);
    Statement result = s;
    result.dims = names;
    result.domain = poly::box(nest_.ctx(), shape);
    result.write.at = poly::identity(space);
    for (Access& access : result.reads) access.at = access.at.pullback(function);
    result.origin = {s.name, poly::identity(space)};
    return result;
  }

  static Statement merged(Statement a, const Statement& b) {
    size_t first = a.reads.size();
    a.reads.insert(a.reads.end(), b.reads.begin(), b.reads.end());
    a.value = sum_of(a.value, with_reads(b.value, [&](size_t k) { return read(first + k); }));
    return with_used_reads(a);
  }

  /// Puts what was added to a gradient so far into the nest.
  void complete(size_t t) {
    std::optional<Statement> all;  // those that write every element, as one
    std::vector<Statement> rest;
    for (Statement& s : pending_[t]) {
      if (auto elements = over_elements(s)) {
        all = all ? merged(*all, *elements) : *elements;
      } else {
        rest.push_back(std::move(s));
      }
    }
    pending_[t].clear();
    bool is_first = !summed_[t];
    if (all && rest.empty() && is_first && t != by_ && !copied_[t] && is_light(all->value)) {
      inlined_[t] = *all;
      return;
    }
    if (all) {
      if (is_first) all->update = Update::assign;
      statements_.push_back(without_units(*all));
    }
    if (!all && is_first) begin_rest(t, rest);
    for (Statement& s : rest) statements_.push_back(std::move(s));
    summed_[t] = summed_[t] || all || !rest.empty();
  }

  /// Decides what elements begin with that no statement writes whole.
  void begin_rest(size_t t, std::vector<Statement>& rest) {
    if (rest.empty()) return;
    std::vector<poly::Image> images;
    long sum = 0;
    bool once = true;
    for (const Statement& s : rest) {
      images.push_back({s.domain, s.write.at});
      sum += poly::count_image(s.domain, s.write.at);
      auto determined = poly::determined(s.domain, s.write.at);
      once = once && std::all_of(determined.begin(), determined.end(), [](bool b) { return b; });
    }
    long written = poly::count_union(images);
    if (once && written == sum) {
      for (Statement& s : rest) s.update = Update::assign;
    }
    std::vector<long> shape = gradient_shape(t);
    long elements = std::accumulate(shape.begin(), shape.end(), 1L, std::multiplies<>());
    if (written == elements) return;
    Statement zero = whole(t, "begin");
    zero.update = Update::assign;
    zero.value = number(0);
    statements_.push_back(without_units(zero));
    for (Statement& s : rest) s.update = Update::add;
  }
};

}  // namespace

std::optional<Adjoint> adjoint_of(const Nest& nest, size_t by) { return Adjoining(nest, by).run(); }

}  // namespace lathe
