// nest.cpp: putting nests together, and the re-indexing that steps share. Interface: nest.h.
#include "nest/nest.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "nest/dependence.h"

namespace lathe {
namespace {

struct MarkName {
  Mark mark;
  const char* name;
};

constexpr MarkName mark_names[] = {
    {Mark::serial, "serial"},     {Mark::parallel, "parallel"}, {Mark::unrolled, "unrolled"},
    {Mark::vector, "vector"},     {Mark::block_x, "block.x"},   {Mark::block_y, "block.y"},
    {Mark::block_z, "block.z"},   {Mark::thread_x, "thread.x"}, {Mark::thread_y, "thread.y"},
    {Mark::thread_z, "thread.z"}, {Mark::vthread, "vthread"},
};

struct SpaceName {
  Space space;
  const char* name;
};

constexpr SpaceName space_names[] = {{Space::nearest, "nearest"},
                                     {Space::global, "global"},
                                     {Space::shared, "shared"},
                                     {Space::privately, "private"}};

void verify_access(const Statement& s, const Access& access, const std::vector<Tensor>& tensors) {
  const Tensor& tensor = tensors.at(access.tensor);
  if (access.at.size() != tensor.shape.size()) {
    fail("statement '{}': {} has {} dimensions, but is indexed with {}", s.name, tensor.name,
         tensor.shape.size(), access.at.size());
  }
  if (s.domain.is_empty()) return;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    poly::Interval reach = poly::range(s.domain, access.at.at(static_cast<int>(i)));
    if (reach.lower >= 0 && reach.upper < tensor.shape[i]) continue;
    fail("statement '{}': index {} of {} runs from {} to {}, but the tensor has {} elements there",
         s.name, i, tensor.name, reach.lower, reach.upper, tensor.shape[i]);
  }
}

/// Checks what a statement picks. Its elements are known only when it runs, so nothing else in the
/// nest may depend on which they are: a tensor that is picked from is given.
void verify_picks(const Statement& s, const std::vector<Tensor>& tensors) {
  each_pick(s.value, [&](const Pick& pick) {
    const Access& access = s.reads.at(pick.read);
    const Tensor& tensor = tensors[access.tensor];
    if (tensor.role == Role::output || tensor.role == Role::local) {
      fail("statement '{}' picks from {}, which the nest writes", s.name, tensor.name);
    }
    for (const Pick::Along& along : pick.along) {
      if (along.dim >= tensor.shape.size()) {
        fail("statement '{}': {} has no dimension {} to pick along", s.name, tensor.name,
             along.dim);
      }
      isl::aff at = access.at.at(static_cast<int>(along.dim));
      if (!poly::same(at, poly::constant(s.domain.space(), 0)) || tensor.pad[along.dim] != Pad{}) {
        fail(
            "statement '{}': {} is picked along dimension {}, so its index there is 0, without "
            "padding",
            s.name, tensor.name, along.dim);
      }
    }
  });
}

/// Has a constant as many values as elements, and none of them is padding?
void verify_values(const Tensor& tensor) {
  size_t elements = 1;
  for (long extent : tensor.shape) elements *= static_cast<size_t>(extent);
  if (tensor.values.size() != elements) {
    fail("constant '{}' has {} elements, but {} values", tensor.name, elements,
         tensor.values.size());
  }
  if (std::any_of(tensor.pad.begin(), tensor.pad.end(), [](Pad p) { return p != Pad{}; })) {
    fail("constant '{}' has padding; list its values instead", tensor.name);
  }
}

/// What decides whether two statements are inside the same loop.
bool same_loop(const Loop& a, const Loop& b) {
  return a.name == b.name && a.extent == b.extent && a.mark == b.mark &&
         a.prefetches == b.prefetches;
}

/// Returns the places of statements "members" (in sequence), which share "depth" loops.
std::vector<Place> places_of(const std::vector<Order>& order, const std::vector<size_t>& members,
                             size_t depth) {
  std::vector<Place> result;
  for (size_t s : members) {
    bool is_loop = order[s].loops.size() > depth;
    bool joins =
        !result.empty() && order[result.back().statements.back()].at[depth] == order[s].at[depth];
    if (!joins) result.push_back({depth, {}, is_loop, {}});
    result.back().statements.push_back(s);
  }
  for (Place& place : result) {
    if (place.is_loop) place.body = places_of(order, place.statements, depth + 1);
  }
  return result;
}

/// Settles the statements "members" (in sequence), which share "depth" loops and the places before.
void settle(std::vector<Order>& order, const std::vector<size_t>& members, size_t depth) {
  std::vector<std::vector<size_t>> places;
  long previous_at = 0;
  for (size_t s : members) {
    const Order& now = order[s];
    bool joins = !places.empty() && previous_at == now.at[depth] && now.loops.size() > depth;
    if (joins) {
      const Order& before = order[places.back().back()];
      joins = before.loops.size() > depth && same_loop(before.loops[depth], now.loops[depth]);
    }
    previous_at = now.at[depth];
    if (joins) {
      places.back().push_back(s);
    } else {
      places.push_back({s});
    }
  }
  for (size_t place = 0; place < places.size(); ++place) {
    for (size_t s : places[place]) order[s].at[depth] = static_cast<long>(place);
    if (order[places[place].front()].loops.size() > depth) settle(order, places[place], depth + 1);
  }
}

}  // namespace

const char* name_of(Mark mark) {
  return std::find_if(std::begin(mark_names), std::end(mark_names),
                      [&](const MarkName& m) { return m.mark == mark; })
      ->name;
}

std::optional<Mark> mark_named(std::string_view name) {
  for (const MarkName& m : mark_names) {
    if (m.name == name) return m.mark;
  }
  return std::nullopt;
}

const char* name_of(Space space) {
  return std::find_if(std::begin(space_names), std::end(space_names),
                      [&](const SpaceName& s) { return s.space == space; })
      ->name;
}

std::optional<Space> space_named(std::string_view name) {
  for (const SpaceName& s : space_names) {
    if (s.name == name) return s.space;
  }
  return std::nullopt;
}

std::vector<long> inner_shape(const Tensor& tensor) {
  std::vector<long> shape = tensor.shape;
  for (size_t d = 0; d < shape.size(); ++d) shape[d] -= tensor.pad[d].before + tensor.pad[d].after;
  return shape;
}

bool is_concurrent(Mark mark) { return mark != Mark::serial && mark != Mark::unrolled; }

Meaning::Meaning(std::vector<Tensor> tensors, std::vector<Statement> statements,
                 std::vector<Order> order)
    : tensors_(std::move(tensors)), statements_(std::move(statements)), order_(std::move(order)) {}

Meaning::~Meaning() = default;

const Dependences& Meaning::dependences() const {
  if (!dependences_) {
    dependences_ = std::make_unique<Dependences>(find_dependences(statements_, order_));
  }
  return *dependences_;
}

void verify(const std::vector<Tensor>& tensors, const std::vector<Statement>& statements) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    if (!names.insert(tensor.name).second) fail("tensor '{}' is declared twice", tensor.name);
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](long n) { return n < 1; })) {
      fail("tensor '{}': every dimension needs at least one element", tensor.name);
    }
    if (tensor.role == Role::constant) verify_values(tensor);
  }
  if (statements.empty()) fail("a nest needs at least one statement");
  names.clear();
  for (const Statement& s : statements) {
    if (!names.insert(s.name).second) fail("statement '{}' is declared twice", s.name);
    verify_access(s, s.write, tensors);
    for (const Access& access : s.reads) verify_access(s, access, tensors);
    verify_picks(s, tensors);
    Role written = tensors[s.write.tensor].role;
    if (written != Role::output && written != Role::local) {
      fail("statement '{}' writes '{}', which is {} of the nest; declare it output or local",
           s.name, tensors[s.write.tensor].name,
           written == Role::constant ? "a constant" : "an input");
    }
  }
}

Nest assemble_nest(std::string name, std::vector<Tensor> tensors, std::vector<Statement> statements,
                   std::vector<Order> order) {
  check(order.size() == statements.size(), "every statement has an order");
  order = settled(std::move(order));
  return {std::move(name),
          std::make_shared<Meaning>(std::move(tensors), std::move(statements), order), order};
}

Nest make_nest(std::string name, std::vector<Tensor> tensors, std::vector<Statement> statements,
               std::vector<Order> order) {
  verify(tensors, statements);
  return assemble_nest(std::move(name), std::move(tensors), std::move(statements),
                       std::move(order));
}

Order plain_order(const Statement& statement, std::vector<long> at) {
  isl::space space = statement.domain.space();
  Order order{{}, poly::identity(space), std::move(at), std::nullopt};
  auto box_sides = poly::sides(statement.domain);
  for (size_t i = 0; i < statement.dims.size(); ++i) {
    long upper = box_sides ? (*box_sides)[i].upper : poly::range(statement.domain, i).upper;
    order.loops.push_back(
        {statement.dims[i], upper + 1, poly::coordinate(space, i), Mark::serial, {}});
  }
  order.at.resize(order.loops.size() + 1, 0);
  return order;
}

std::vector<long> extents(const Order& order) {
  std::vector<long> result;
  for (const Loop& loop : order.loops) result.push_back(loop.extent);
  return result;
}

isl::set iterations(const Statement& statement, const Order& order) {
  isl::set hull = poly::box(statement.domain.ctx(), extents(order));
  isl::set result = poly::mapped_into(hull, order.instance, statement.domain);
  return order.within ? result.intersect(*order.within) : result;
}

std::pair<Statement, Order> rebased(const Statement& statement, const Order& order) {
  isl::set domain = poly::boxed(iterations(statement, order));
  Statement s = statement;
  s.domain = domain;
  s.dims.clear();
  for (const Loop& loop : order.loops) s.dims.push_back(loop.name);
  auto in_loops = [&](const isl::multi_aff& function) {
    return poly::simplified(function.pullback(order.instance), domain);
  };
  s.write.at = in_loops(s.write.at);
  for (Access& access : s.reads) access.at = in_loops(access.at);
  s.origin.at = in_loops(s.origin.at);
  Order o = order;
  o.instance = poly::identity(domain.space());
  o.within.reset();
  for (size_t i = 0; i < o.loops.size(); ++i) {
    o.loops[i].value = poly::coordinate(domain.space(), i);
  }
  return {std::move(s), std::move(o)};
}

std::pair<Statement, Order> reindexed(const Statement& statement, const std::vector<Loop>& loops,
                                      const isl::multi_aff& old, std::vector<long> at) {
  Order order{loops, old, std::move(at), std::nullopt};
  order.at.resize(loops.size() + 1, 0);
  return rebased(statement, order);
}

Statement without_units(const Statement& statement) {
  Order order = plain_order(statement, {});
  std::vector<Loop> loops;
  for (const Loop& loop : order.loops) {
    if (loop.extent > 1) loops.push_back(loop);
  }
  if (loops.size() == order.loops.size()) return statement;
  isl::space space = poly::tuples(statement.domain.ctx(), loops.size());
  std::vector<isl::aff> old;
  size_t next = 0;
  for (const Loop& loop : order.loops) {
    old.push_back(loop.extent > 1 ? poly::coordinate(space, next++) : poly::constant(space, 0));
  }
  return reindexed(statement, loops, poly::tuple(space, old), {}).first;
}

std::vector<size_t> sequence(const std::vector<Order>& order) {
  std::vector<size_t> result(order.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = i;
  std::stable_sort(result.begin(), result.end(),
                   [&](size_t a, size_t b) { return order[a].at < order[b].at; });
  return result;
}

std::vector<Place> places(const std::vector<Order>& order) {
  return places_of(order, sequence(order), 0);
}

size_t shared_loops(const Order& a, const Order& b) {
  size_t depth = 0;
  while (depth < a.loops.size() && depth < b.loops.size() && a.at[depth] == b.at[depth] &&
         same_loop(a.loops[depth], b.loops[depth])) {
    ++depth;
  }
  return depth;
}

std::vector<Order> settled(std::vector<Order> order) {
  for (Order& o : order) o.at.resize(o.loops.size() + 1, 0);
  settle(order, sequence(order), 0);
  return order;
}

std::optional<size_t> find_tensor(const Nest& nest, std::string_view name) {
  for (size_t i = 0; i < nest.tensors().size(); ++i) {
    if (nest.tensors()[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<size_t> find_loop(const Order& order, std::string_view name) {
  for (size_t i = 0; i < order.loops.size(); ++i) {
    if (order.loops[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<std::string> loop_names(const Nest& nest) {
  std::vector<std::string> names;
  for (size_t s : sequence(nest.order)) {
    for (const Loop& loop : nest.order[s].loops) {
      if (std::find(names.begin(), names.end(), loop.name) == names.end()) {
        names.push_back(loop.name);
      }
    }
  }
  return names;
}

std::string fresh_name(const Nest& nest, const std::string& name) {
  std::set<std::string> taken;
  for (const std::string& loop : loop_names(nest)) taken.insert(loop);
  for (const Tensor& tensor : nest.tensors()) taken.insert(tensor.name);
  for (const Statement& s : nest.statements()) taken.insert(s.name);
  if (!taken.contains(name)) return name;
  int number = 2;
  while (taken.contains(fmt::format("{}{}", name, number))) ++number;
  return fmt::format("{}{}", name, number);
}

}  // namespace lathe
