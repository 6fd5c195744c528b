// A nest: an operator's meaning (what is computed) and order (when), kept apart.
//
//   meaning   tensors, and statements: a domain of instances, accesses, a body
//   order     for each statement the loops around it, and where it stands among the others
//
// A convolution of 64 channels is one statement:
//
//   domain    { [co, ci, oh, ow, kh, kw] : 0 <= co < 64, ... }
//   accesses  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh + kh, ow + kw]
//   order     the loops co ci oh ow kh kw
//
// A program step makes a new order and shares the meaning; a neural step makes a new meaning.
// Everything else (cost, code, gradient, name) is computed from these two. Values are immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/element.h"
#include "base/pad.h"
#include "nest/expr.h"
#include "poly/relation.h"

namespace lathe {

/// A constant is part of the nest: its values are known, whatever the weights are.
enum class Role { input, weight, output, local, constant };

/// Where a local tensor lies on a machine with blocks and threads. A CPU takes no notice.
enum class Space {
  nearest,   ///< as near as its uses allow: private, shared, or else global
  global,    ///< all blocks have it in common
  shared,    ///< the threads of a block have it in common; each block has its own
  privately  ///< each thread has its own
};

/// Names a space: "nearest", "global", "shared", "private".
const char* name_of(Space space);
/// Returns the space of that name, if there is one.
std::optional<Space> space_named(std::string_view name);

/// A tensor as it is stored: padding is part of the shape, and holds "padding".
struct Tensor {
  std::string name;
  Role role = Role::input;
  Element element = Element::f32;
  std::vector<long> shape;
  std::vector<Pad> pad;             ///< of each dimension
  double padding = 0;               ///< the value of those elements
  std::vector<double> values = {};  ///< of a constant, row-major
  Space space = Space::nearest;     ///< of a local tensor
};

/// Returns the shape of a tensor without its padding: a graph stores none.
std::vector<long> inner_shape(const Tensor& tensor);

/// Which element of which tensor an instance touches.
struct Access {
  size_t tensor = 0;
  isl::multi_aff at;  ///< instance -> element
};

/// How a statement's value enters the element that it writes. Where the updates of one tensor
/// differ, the first statement listed says what its elements start at.
enum class Update {
  assign,   ///< O = value
  add,      ///< O += value; an element that nothing assigned starts at 0
  maximum,  ///< O max= value; an element that nothing assigned starts at the lowest value
};

/// The instance of the operator as it was first written that an instance stands for.
struct Origin {
  std::string statement;
  isl::multi_aff at;  ///< instance -> original instance
};

struct Statement {
  std::string name;
  std::vector<std::string> dims;  ///< names of the domain's coordinates
  isl::set domain;                ///< every coordinate starts at 0
  Access write;
  Update update = Update::assign;
  std::vector<Access> reads;
  Expr value;
  Origin origin;
};

/// How the iterations of a loop are executed.
enum class Mark {
  serial,
  parallel,
  unrolled,
  vector,
  block_x,
  block_y,
  block_z,
  thread_x,
  thread_y,
  thread_z,
  vthread,
};

/// Names a mark: "parallel", "block.x", ...
const char* name_of(Mark mark);
/// Returns the mark of that name, if there is one.
std::optional<Mark> mark_named(std::string_view name);
/// May iterations of a loop with this mark overlap in time?
bool is_concurrent(Mark mark);

/// Ask for the elements of a tensor that a loop will touch "distance" iterations later.
struct Prefetch {
  size_t tensor;
  long distance;
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};

/// One loop around a statement: it counts from 0 to extent - 1.
struct Loop {
  std::string name;
  long extent = 0;
  isl::aff value;  ///< instance -> iteration of this loop
  Mark mark = Mark::serial;
  std::vector<Prefetch> prefetches;
};

/// The order of one statement. It runs at time (at[0], loops[0], at[1], loops[1], ..., at[n]):
/// "at" places it among the statements that share the loops so far.
struct Order {
  std::vector<Loop> loops;
  isl::multi_aff instance;  ///< iterations of all loops -> instance: undoes loops[i].value
  std::vector<long> at;
  /// Which iterations are instances, where neither the loops' extents nor the domain tell: what a
  /// split of 3 iterations by 2 leaves over.
  std::optional<isl::set> within;
};

struct Dependences;

/// What a nest computes. Dependences are found when first asked for, and kept.
class Meaning {
 public:
  Meaning(std::vector<Tensor> tensors, std::vector<Statement> statements, std::vector<Order> order);
  ~Meaning();

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Statement>& statements() const { return statements_; }

  /// Returns the pairs of instances whose order matters (dependence.h).
  const Dependences& dependences() const;

 private:
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Order> order_;  // a valid order: it says which of two conflicting accesses is first
  mutable std::unique_ptr<Dependences> dependences_;
};

struct Nest {
  std::string name;
  std::shared_ptr<const Meaning> meaning;
  std::vector<Order> order;  ///< of each statement

  const std::vector<Tensor>& tensors() const { return meaning->tensors(); }
  const std::vector<Statement>& statements() const { return meaning->statements(); }
  isl::ctx ctx() const { return statements().front().domain.ctx(); }
};

/// Checks that tensors and statements make a nest: names, arities, indices in bounds.
void verify(const std::vector<Tensor>& tensors, const std::vector<Statement>& statements);

/// Puts a nest together and settles its places. Steps call this: what they make is a nest because
/// what they started from was one.
Nest assemble_nest(std::string name, std::vector<Tensor> tensors, std::vector<Statement> statements,
                   std::vector<Order> order);

/// Puts a nest together from parts that somebody wrote, and verifies it.
Nest make_nest(std::string name, std::vector<Tensor> tensors, std::vector<Statement> statements,
               std::vector<Order> order);

/// Returns the order in which the loops of "statement" are its coordinates, as written.
Order plain_order(const Statement& statement, std::vector<long> at);

/// Returns the function from the iterations of "loops" to the instances of the statement. There is
/// one if each iteration stands for one instance and a single formula says which.
std::optional<isl::multi_aff> inverse(const Statement& statement, const std::vector<Loop>& loops);

/// Returns the extents of all loops.
std::vector<long> extents(const Order& order);

/// Returns the instances of a statement in terms of its loops.
isl::set iterations(const Statement& statement, const Order& order);

/// Returns the statement and its order with its loops as coordinates: nothing else changes.
std::pair<Statement, Order> rebased(const Statement& statement, const Order& order);

/// Replaces the coordinates of a rebased statement: "old" gives the old ones from the new ones,
/// which are named and bounded by "loops" (name, extent, mark).
std::pair<Statement, Order> reindexed(const Statement& statement, const std::vector<Loop>& loops,
                                      const isl::multi_aff& old, std::vector<long> at);

/// Returns the statement without its coordinates of extent 1: they are no loops.
Statement without_units(const Statement& statement);

/// Returns the statements in the order in which they first run.
std::vector<size_t> sequence(const std::vector<Order>& order);

/// One place of the order seen as a tree: a loop with the places inside it, or a statement.
struct Place {
  size_t depth;                    ///< loops around it
  std::vector<size_t> statements;  ///< those inside, in sequence; just one if it is no loop
  bool is_loop;
  std::vector<Place> body;
};

/// Returns the outermost places, in sequence.
std::vector<Place> places(const std::vector<Order>& order);

/// Returns how many loops the two statements share.
size_t shared_loops(const Order& a, const Order& b);

/// Separates statements that stand in one place but no longer have the same loop there: each gets
/// a place of its own, in sequence. Places are renumbered from 0.
std::vector<Order> settled(std::vector<Order> order);

/// Finds a tensor, or a loop of "order", by name.
std::optional<size_t> find_tensor(const Nest& nest, std::string_view name);
std::optional<size_t> find_loop(const Order& order, std::string_view name);

/// Returns the names of all loops, in sequence, each once.
std::vector<std::string> loop_names(const Nest& nest);

/// Returns "name", or "name2", "name3" ..., whichever no loop, statement or tensor has yet.
std::string fresh_name(const Nest& nest, const std::string& name);

/// The loop that counts the samples of a batch by convention: no part of the network.
inline constexpr std::string_view batch_loop = "n";

}  // namespace lathe
