// print.cpp: Nest to text. Interface: print() and its parts, of text.h.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "nest/text.h"

namespace lathe {
namespace {

const char* role_name(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::weight:
      return "weight";
    case Role::output:
      return "output";
    case Role::local:
      return "local";
    case Role::constant:
      return "constant";
  }
  return "";
}

std::string print_tensor(const Tensor& t) {
  std::string out = fmt::format("tensor {}: {} {}[{}]", t.name, role_name(t.role),
                                name_of(t.element), fmt::join(t.shape, ", "));
  bool padded = std::any_of(t.pad.begin(), t.pad.end(), [](Pad p) { return p != Pad{}; });
  std::vector<std::string> pads;
  for (Pad p : t.pad) {
    pads.push_back(p.before == p.after ? fmt::format("{}", p.before)
                                       : fmt::format("{}:{}", p.before, p.after));
  }
  if (padded) out += fmt::format(" pad [{}]", fmt::join(pads, ", "));
  if (padded && t.padding != 0) out += fmt::format(" with {}", t.padding);
  if (t.space != Space::nearest) out += fmt::format(" in {}", name_of(t.space));
  if (t.role == Role::constant) out += fmt::format(" = [{}]", fmt::join(t.values, ", "));
  return out;
}

std::string print_tuple(const isl::multi_aff& function, const std::vector<std::string>& dims) {
  std::vector<std::string> indices;
  for (const isl::aff& part : poly::parts(function)) indices.push_back(poly::text(part, dims));
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

/// How tightly an expression binds: sums 1, products 2, signs 3, the rest 4.
int binding(const Expr& e) {
  switch (e.op) {
    case Expr::Op::add:
    case Expr::Op::sub:
      return 1;
    case Expr::Op::mul:
    case Expr::Op::div:
      return 2;
    case Expr::Op::neg:
      return 3;
    case Expr::Op::number:
      return e.number < 0 ? 3 : 4;
    default:
      return 4;
  }
}

struct ExprPrinter {
  const Statement& statement;
  const std::vector<Tensor>& tensors;

  std::string print(const Expr& e, int at_least) const {
    std::string text = print_bare(e);
    return binding(e) < at_least ? "(" + text + ")" : text;
  }

  std::string print_bare(const Expr& e) const {
    if (e.op == Expr::Op::number) return fmt::format("{}", e.number);
    if (e.op == Expr::Op::read) {
      return print_access(statement.reads[e.read], tensors, statement.dims);
    }
    const Function& f = function_of(e.op);
    if (e.op == Expr::Op::neg) return "-" + print(e.args[0], 4);
    int own = binding(e);
    if (f.infix) {
      return fmt::format("{} {} {}", print(e.args[0], own), f.name, print(e.args[1], own + 1));
    }
    std::vector<std::string> args;
    for (const Expr& arg : e.args) args.push_back(print(arg, 1));
    return fmt::format("{}({})", f.name, fmt::join(args, ", "));
  }
};

/// Is the constraint only what a floor means? 4 * (i / 4) <= i, and i <= 4 * (i / 4) + 3.
bool always_holds(const poly::Constraint& c) {
  const poly::Affine& e = c.expression;
  if (c.equality || e.floors.size() != 1) return false;
  const poly::Affine& of = e.floors[0].of;
  long times = -e.floors[0].coefficient / of.divisor;  // e = times * (of - divisor * floor) + rest
  if (times * of.divisor != -e.floors[0].coefficient || !of.floors.empty()) return false;
  for (size_t i = 0; i < e.coefficients.size(); ++i) {
    if (e.coefficients[i] != times * of.coefficients[i]) return false;
  }
  long rest = e.constant - times * of.constant;
  return rest >= (times < 0 ? -times * (of.divisor - 1) : 0);
}

/// Prints  expression >= 0  with the negative terms moved to the left.
std::string print_constraint(const poly::Constraint& c, const std::vector<std::string>& dims) {
  poly::Affine left = c.expression, right = c.expression;
  left.floors.clear();
  right.floors.clear();
  left.constant = std::max(0L, -c.expression.constant);
  right.constant = std::max(0L, c.expression.constant);
  for (size_t i = 0; i < dims.size(); ++i) {
    left.coefficients[i] = std::max(0L, -c.expression.coefficients[i]);
    right.coefficients[i] = std::max(0L, c.expression.coefficients[i]);
  }
  for (poly::Affine::Floor floor : c.expression.floors) {
    poly::Affine& side = floor.coefficient < 0 ? left : right;
    floor.coefficient = std::labs(floor.coefficient);
    side.floors.push_back(std::move(floor));
  }
  return fmt::format("{} {} {}", poly::text(left, dims),
                     c.equality ? "=" : "<=", poly::text(right, dims));
}

std::vector<long> hull_extents(const isl::set& domain) {
  std::vector<long> extents;
  auto box_sides = poly::sides(domain);
  for (size_t i = 0; i < poly::arity(domain); ++i) {
    extents.push_back(1 + (box_sides ? (*box_sides)[i].upper : poly::range(domain, i).upper));
  }
  return extents;
}

std::string print_statement(const Statement& s, const std::vector<Tensor>& tensors) {
  std::vector<std::string> bounds;
  std::vector<long> extents = hull_extents(s.domain);
  for (size_t i = 0; i < s.dims.size(); ++i) {
    bounds.push_back(fmt::format("{} < {}", s.dims[i], extents[i]));
  }
  std::string out = fmt::format("statement {}[{}]", s.name, fmt::join(bounds, ", "));
  std::string where = print_constraints(s.domain, extents, s.dims);
  if (!where.empty()) out += " where " + where;
  std::string from = print_tuple(s.origin.at, s.dims);
  std::string own = fmt::format("[{}]", fmt::join(s.dims, ", "));
  if (s.origin.statement.empty()) {
    out += from == own ? " added" : fmt::format("\n    added {}", from);
  } else if (s.origin.statement != s.name || from != own) {
    out += fmt::format("\n    from {}{}", s.origin.statement, from);
  }
  return fmt::format("{}:\n  {}", out, print_body(s, tensors));
}

/// Do the two functions have the same values on "set"?
bool agree(const isl::multi_aff& a, const isl::multi_aff& b, const isl::set& set) {
  isl::set same = set;
  for (unsigned i = 0; i < a.size(); ++i) {
    int at = static_cast<int>(i);
    if (!poly::same(a.at(at), b.at(at))) same = same.intersect(a.at(at).eq_set(b.at(at)));
  }
  return set.is_subset(same);
}

/// Prints the schedule as a tree of loops, perfectly nested ones on one line.
class SchedulePrinter {
 public:
  explicit SchedulePrinter(const Nest& nest) : nest_(nest) {}

  std::string print() {
    for (const Place& place : places(nest_.order)) print_place(place, 2);
    return out_;
  }

 private:
  const Nest& nest_;
  std::string out_;

  void print_place(const Place& outermost, size_t indent) {
    std::string margin(indent, ' ');
    if (!outermost.is_loop) {
      out_ += margin + print_leaf(outermost.statements.front()) + "\n";
      return;
    }
    const Place* place = &outermost;
    std::string headers = print_loop(place->statements, place->depth);
    while (place->body.size() == 1 && place->body.front().is_loop) {
      place = &place->body.front();
      headers += ", " + print_loop(place->statements, place->depth);
    }
    out_ += fmt::format("{}for {}:\n", margin, headers);
    for (const Place& inner : place->body) print_place(inner, indent + 2);
  }

  /// Prints a statement, with its instance as a function of the loops where that does not follow.
  std::string print_leaf(size_t index) const {
    const Statement& s = nest_.statements()[index];
    const Order& order = nest_.order[index];
    auto follows = inverse(s, order.loops);
    if (follows && agree(*follows, order.instance, iterations(s, order))) return s.name;
    std::vector<std::string> names;
    for (const Loop& loop : order.loops) names.push_back(loop.name);
    return s.name + print_tuple(order.instance, names);
  }

  std::string print_loop(const std::vector<size_t>& members, size_t depth) const {
    const Loop& loop = nest_.order[members.front()].loops[depth];
    std::vector<std::string> definitions;
    for (size_t s : members) {
      definitions.push_back(
          poly::text(nest_.order[s].loops[depth].value, nest_.statements()[s].dims));
    }
    bool all_same = std::all_of(definitions.begin(), definitions.end(),
                                [&](const std::string& d) { return d == definitions.front(); });
    if (all_same) definitions.resize(1);
    std::string out = loop.name;
    if (!all_same || definitions.front() != loop.name) {
      out += fmt::format(" = {}", fmt::join(definitions, " | "));
    }
    if (loop.mark != Mark::serial) out += fmt::format(" {}", name_of(loop.mark));
    for (const Prefetch& p : loop.prefetches) {
      out += fmt::format(" prefetch({}, {})", nest_.tensors()[p.tensor].name, p.distance);
    }
    return out;
  }
};

std::string print_as_written(const isl::set& domain, const std::vector<long>& extents,
                             const std::vector<std::string>& dims) {
  if (poly::is_box(domain, extents)) return "";
  isl::set hull = poly::box(domain.ctx(), extents);
  std::vector<std::string> pieces;
  for (const auto& piece : poly::constraints(poly::coalesced(domain).gist(hull))) {
    std::vector<std::string> list;
    for (const poly::Constraint& c : piece) {
      if (!always_holds(c)) list.push_back(print_constraint(c, dims));
    }
    std::sort(list.begin(), list.end());
    pieces.push_back(fmt::format("{}", fmt::join(list, ", ")));
  }
  std::sort(pieces.begin(), pieces.end());
  return fmt::format("{}", fmt::join(pieces, " or "));
}

}  // namespace

std::string print_access(const Access& access, const std::vector<Tensor>& tensors,
                         const std::vector<std::string>& dims) {
  return tensors[access.tensor].name + print_tuple(access.at, dims);
}

std::string print_body(const Statement& s, const std::vector<Tensor>& tensors) {
  const char* update = s.update == Update::assign ? "=" : s.update == Update::add ? "+=" : "max=";
  ExprPrinter printer{s, tensors};
  return fmt::format("{} {} {}", print_access(s.write, tensors, s.dims), update,
                     printer.print(s.value, 1));
}

std::string print_constraints(const isl::set& domain, const std::vector<long>& extents,
                              const std::vector<std::string>& dims) {
  std::string text = print_as_written(domain, extents, dims);
  if (text.empty() || isl_set_involves_locals(domain.get()) != isl_bool_true) return text;
  // isl writes one set with floors in several ways, and its own text not always as it stands: take
  // the first that parsing and printing leave alone.
  for (int attempt = 0; attempt < 8; ++attempt) {
    isl::set parsed = parse_constraints(domain.ctx(), text, extents, dims);
    std::string again = print_as_written(parsed, extents, dims);
    if (again == text || again.empty()) break;
    text = again;
  }
  return text;
}
std::string print(const Nest& nest) {
  std::string out = fmt::format("nest {}\n", nest.name);
  for (const Tensor& tensor : nest.tensors()) out += print_tensor(tensor) + "\n";
  for (const Statement& s : nest.statements()) out += print_statement(s, nest.tensors()) + "\n";
  return out + "schedule:\n" + SchedulePrinter(nest).print();
}

}  // namespace lathe
