// pack.cpp: copies a tensor's tile into the order in which it is read.
//
//   pack(W, i):   for i: for j: S(W[j, i])  ->  for i: { for j: P[i, j] = W[j, i];  for j: S(P[i,
//   j]) }
//
// Inside loop i the tile is copied once, its dimensions being the loops that read it, in their
// order. Without a loop the whole tensor is copied before everything else. P has one tile for each
// iteration of the loops around it; those that live one after the other share storage
// (footprint.h).
//
//   pack(I, k, shared)      the copy lies in the memory of a block
//   pack(I, private)        in that of a thread
//
// Such a copy is made inside the loops of blocks (and of threads), with or without a loop.
#include <algorithm>

#include "nest/marks.h"
#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"

namespace lathe::transforms {
namespace {

struct Reader {
  size_t statement, read, depth;  // the tile lives inside "depth" loops
};

/// Checks that it is known which elements a statement reads: a tile is made of them.
void require_known(const Nest& nest, size_t tensor, const Statement& s) {
  each_pick(s.value, [&](const Pick& pick) {
    if (s.reads[pick.read].tensor != tensor) return;
    fail("'{}' picks elements of {}: which ones is known only when it runs", s.name,
         nest.tensors()[tensor].name);
  });
}

/// Checks that a tensor is complete before the outermost loop of a reader begins.
void require_written_before(const Nest& nest, size_t tensor, size_t reader) {
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    if (nest.statements()[s].write.tensor != tensor) continue;
    if (nest.order[s].at[0] < nest.order[reader].at[0]) continue;
    fail("'{}' writes {} while it is read; only what is there beforehand can be packed",
         nest.statements()[s].name, nest.tensors()[tensor].name);
  }
}

/// What a step asks for: a loop, a space, both or neither.
struct Wanted {
  std::string tensor, loop;
  Space space = Space::nearest;
};

Wanted wanted_by(const Nest& nest, const Arguments& args) {
  Wanted wanted{args.name(0), "", Space::nearest};
  std::vector<std::string> loops = loop_names(nest);
  for (size_t i = 1; args.has(i); ++i) {
    bool is_loop = i == 1 && std::find(loops.begin(), loops.end(), args.name(i)) != loops.end();
    auto space = is_loop ? std::nullopt : space_named(args.name(i));
    if (space && (*space == Space::shared || *space == Space::privately)) {
      wanted.space = *space;
    } else {
      wanted.loop = args.name(i);
    }
  }
  return wanted;
}

/// Is a copy in this space made inside loops with this mark?
bool is_inside(Space space, Mark mark) {
  return (space == Space::shared && is_block(mark)) || (space == Space::privately && is_axis(mark));
}

/// Returns how many loops are around a copy for which no loop is given.
size_t least_depth(const Order& order, Space space) {
  size_t depth = 0;
  for (size_t i = 0; i < order.loops.size(); ++i) {
    if (is_inside(space, order.loops[i].mark)) depth = i + 1;
  }
  return depth;
}

Reader find_reader(const Nest& nest, const Wanted& wanted) {
  size_t tensor = tensor_named(nest, wanted.tensor);
  bool inside = !wanted.loop.empty();
  std::vector<LoopRef> refs;
  if (inside) refs = resolve(nest, wanted.loop);
  for (size_t s : sequence(nest.order)) {
    auto ref =
        std::find_if(refs.begin(), refs.end(), [&](const LoopRef& r) { return r.statement == s; });
    if (inside && ref == refs.end()) continue;
    const auto& reads = nest.statements()[s].reads;
    for (size_t r = 0; r < reads.size(); ++r) {
      if (reads[r].tensor != tensor) continue;
      require_written_before(nest, tensor, s);
      require_known(nest, tensor, nest.statements()[s]);
      return {s, r, inside ? ref->depth + 1 : least_depth(nest.order[s], wanted.space)};
    }
  }
  fail("no statement {}reads {}", inside ? "inside loop '" + wanted.loop + "' " : "",
       wanted.tensor);
}

/// Returns the loops that index the tile: all around it, then those inside that pick elements.
std::vector<size_t> tile_loops(const Statement& in_loops, const Reader& reader) {
  std::vector<size_t> used;
  for (size_t i = 0; i < in_loops.dims.size(); ++i) {
    if (i < reader.depth || poly::involves(in_loops.reads[reader.read].at, i)) used.push_back(i);
  }
  return used;
}

/// Builds the copying statement over the tile's loops.
Statement copying(const Nest& nest, const Statement& in_loops, const Reader& reader,
                  const std::vector<size_t>& used, size_t packed) {
  Statement s;
  s.name = fresh_name(nest, "pack");
  isl_set* domain = in_loops.domain.copy();
  for (size_t i = in_loops.dims.size(); i-- > 0;) {
    if (std::find(used.begin(), used.end(), i) != used.end()) continue;
    domain = isl_set_project_out(domain, isl_dim_set, static_cast<unsigned>(i), 1);
  }
  s.domain = poly::boxed(isl::manage(domain));
  isl::space space = s.domain.space();
  std::vector<isl::aff> all(in_loops.dims.size(), poly::constant(space, 0));
  for (size_t k = 0; k < used.size(); ++k) {
    s.dims.push_back(in_loops.dims[used[k]]);
    all[used[k]] = poly::coordinate(space, k);
  }
  const Access& access = in_loops.reads[reader.read];
  s.write = {packed, poly::identity(space)};
  s.update = Update::assign;
  s.reads = {{access.tensor, access.at.pullback(poly::tuple(space, all))}};
  s.value = read(0);
  s.origin = {s.name, poly::identity(space)};
  return s;
}

Applied copy_tile(const Nest& nest, const Arguments& args) {
  Wanted wanted = wanted_by(nest, args);
  Reader reader = find_reader(nest, wanted);
  const Order& order = nest.order[reader.statement];
  auto [in_loops, plain] = rebased(nest.statements()[reader.statement], order);
  // Loops around the tile that its elements do not depend on only repeat the copy: go further out.
  while (reader.depth > 0 && !is_inside(wanted.space, order.loops[reader.depth - 1].mark) &&
         !poly::involves(in_loops.reads[reader.read].at, reader.depth - 1)) {
    --reader.depth;
  }
  if (wanted.space != Space::nearest && reader.depth == 0) {
    fail(
        "{} memory lasts for one kernel, and the copy would be one of its own: name a loop that {} "
        "depends on, or bind one to blocks first",
        name_of(wanted.space), wanted.tensor);
  }
  std::vector<size_t> used = tile_loops(in_loops, reader);

  std::vector<Tensor> tensors = nest.tensors();
  size_t source = in_loops.reads[reader.read].tensor, packed = tensors.size();
  Tensor tile{fresh_name(nest, tensors[source].name + ".packed"),
              Role::local,
              tensors[source].element,
              {},
              {},
              0};
  tile.space = wanted.space;
  for (size_t i : used) tile.shape.push_back(order.loops[i].extent);
  tile.pad.resize(tile.shape.size());
  tensors.push_back(tile);

  std::vector<Statement> statements = nest.statements();
  Statement copy = copying(nest, in_loops, reader, used, packed);
  std::vector<isl::aff> index;
  for (size_t i : used) index.push_back(order.loops[i].value);
  Statement& user = statements[reader.statement];
  user.reads[reader.read] = {packed, poly::tuple(user.domain.space(), index)};

  std::vector<Order> orders = nest.order;
  for (Order& o : orders) {
    for (long& at : o.at) at = 2 * at + 1;
  }
  std::vector<long> at(orders[reader.statement].at.begin(),
                       orders[reader.statement].at.begin() + static_cast<long>(reader.depth) + 1);
  --at.back();
  Order copy_order = plain_order(copy, at);
  for (size_t i = 0; i < reader.depth; ++i) copy_order.loops[i].mark = order.loops[i].mark;
  for (size_t i = 0; i < reader.depth; ++i)
    copy_order.loops[i].prefetches = order.loops[i].prefetches;
  for (size_t k = 0; k < used.size(); ++k) copy_order.loops[k].extent = order.loops[used[k]].extent;
  statements.push_back(std::move(copy));
  orders.push_back(std::move(copy_order));
  std::string note = fmt::format("{} is read through {}", tensors[source].name, tile.name);
  if (wanted.space != Space::nearest) note += fmt::format(", in {} memory", name_of(wanted.space));
  return {assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(orders)),
          note};
}

std::vector<Step> candidates_of_pack(const Nest& nest) {
  std::vector<Step> steps;
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    const Statement& statement = nest.statements()[s];
    if (statement.update == Update::assign) continue;
    for (const Access& access : statement.reads) {
      const Tensor& tensor = nest.tensors()[access.tensor];
      if (tensor.role != Role::input && tensor.role != Role::weight) continue;
      steps.push_back({"pack", {tensor.name}});
      for (const Loop& loop : nest.order[s].loops)
        steps.push_back({"pack", {tensor.name, loop.name}});
      size_t blocks = least_depth(nest.order[s], Space::shared);
      if (blocks == 0) continue;
      for (const char* space : {"shared", "private"}) {
        std::vector<Step> packs = {{"pack", {tensor.name, space}}};
        for (size_t i = blocks; i < nest.order[s].loops.size(); ++i)
          packs.push_back({"pack", {tensor.name, nest.order[s].loops[i].name, space}});
        std::copy_if(packs.begin(), packs.end(), std::back_inserter(steps),
                     [&](const Step& step) { return applies(nest, step); });
      }
    }
  }
  return steps;
}

}  // namespace

Transform pack() {
  return {"pack",
          Transform::Kind::program,
          {{Takes::tensor}, {Takes::loop, true}, {Takes::space, true}},
          "for i: for j: S(T[j,i])  ->  for i: for j: P[i,j] = T[j,i]; for j: S(P[i,j])",
          copy_tile,
          candidates_of_pack};
}

}  // namespace lathe::transforms
