// canonical.cpp: what a nest means, as text. Interface: canonical() of canonical.h.
#include "nest/canonical.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "nest/directions.h"
#include "nest/text.h"

namespace lathe {
namespace {

/// Is the statement a plain copy into a tensor that nothing else writes?
bool is_copy(const Nest& nest, size_t s) {
  const Statement& statement = nest.statements()[s];
  bool copies = statement.update == Update::assign && statement.value == read(0) &&
                nest.tensors()[statement.write.tensor].role == Role::local;
  for (size_t t = 0; t < nest.statements().size(); ++t) {
    copies = copies && (t == s || nest.statements()[t].write.tensor != statement.write.tensor);
  }
  isl::multi_aff plain = poly::identity(statement.domain.space());
  return copies && statement.write.at.plain_is_equal(plain);
}

/// Does the statement only set what begins there by itself? The first other statement that writes
/// the tensor says what that is.
bool is_start(const Nest& nest, size_t s) {
  const Statement& statement = nest.statements()[s];
  if (statement.update != Update::assign || statement.value.op != Expr::Op::number) return false;
  for (size_t t = 0; t < nest.statements().size(); ++t) {
    const Statement& other = nest.statements()[t];
    bool alike = other.update == Update::assign && other.value == statement.value;
    if (alike || other.write.tensor != statement.write.tensor) continue;
    bool maximum = other.update == Update::maximum;
    double neutral = maximum ? -std::numeric_limits<double>::infinity() : 0.0;
    return t > s && statement.value.number == neutral;
  }
  return false;
}

/// Follows a read through copies to the tensor that was copied.
Access seen_through(const Nest& nest, Access access, const isl::set& domain) {
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    const Statement& copy = nest.statements()[s];
    if (copy.write.tensor != access.tensor || !is_copy(nest, s)) continue;
    Access from{copy.reads[0].tensor,
                poly::simplified(copy.reads[0].at.pullback(access.at), domain)};
    return seen_through(nest, from, domain);
  }
  return access;
}

/// Prints an expression without its indices: what is done, on which tensors.
std::string shape_of(const Expr& e, const std::vector<Access>& reads,
                     const std::vector<Tensor>& tensors) {
  if (e.op == Expr::Op::number) return fmt::format("{}", e.number);
  if (e.op == Expr::Op::read) return tensors[reads[e.read].tensor].name;
  std::vector<std::string> args;
  for (const Expr& arg : e.args) args.push_back(shape_of(arg, reads, tensors));
  return fmt::format("{}({})", function_of(e.op).name, fmt::join(args, ", "));
}

/// Statements that do the same on different instances: boxes, joined where they are neighbours, and
/// the text of what is no box.
struct Family {
  std::vector<Parallelepiped> boxes;
  std::vector<std::string> others;
};

std::string print_box(const Parallelepiped& box) {
  std::string out = fmt::format("({})", fmt::join(box.corner, ","));
  for (const BoxDirection& d : box.directions) {
    out += fmt::format(" {}x({})", d.extent, fmt::join(d.vector, ","));
  }
  return out;
}

/// Prints the values of a function on a set that is no box: not unique, but never the same for two
/// different ones.
std::string print_values(const isl::set& set, const isl::multi_aff& function) {
  isl::set values = poly::coalesced(set.apply(function.as_map()));
  char* text = isl_set_to_str(values.get());
  std::string result = text;
  free(text);
  return result;
}

void add_statement(const Nest& nest, size_t index, std::map<std::string, Family>& families) {
  const Statement& s = nest.statements()[index];
  std::vector<Access> accesses;
  // What a completion added stands for nothing of the original: what it touches tells it.
  bool is_added = s.origin.statement.empty();
  isl::multi_aff all = is_added ? s.write.at : s.origin.at.flat_range_product(s.write.at);
  for (const Access& access : s.reads) {
    accesses.push_back(seen_through(nest, access, s.domain));
    all = all.flat_range_product(accesses.back().at);
  }
  const char* update = s.update == Update::assign ? "=" : s.update == Update::add ? "+=" : "max=";
  std::string what =
      fmt::format("{}: {} {} {}", s.origin.statement, nest.tensors()[s.write.tensor].name, update,
                  shape_of(s.value, accesses, nest.tensors()));
  Family& family = families[what];
  if (auto box = image_of_box(s.domain, all)) {
    family.boxes.push_back(std::move(*box));
  } else {
    family.others.push_back(print_values(s.domain, all));
  }
}

}  // namespace

std::string canonical(const Nest& nest) {
  std::string out;
  std::map<std::string, Family> families;
  std::vector<bool> copied(nest.tensors().size(), false);
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    if (is_copy(nest, s)) {
      copied[nest.statements()[s].write.tensor] = true;
    } else if (!is_start(nest, s)) {
      add_statement(nest, s, families);
    }
  }
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (copied[t]) continue;
    out += fmt::format("{}[{}]", tensor.name, fmt::join(tensor.shape, ","));
    if (tensor.role == Role::constant) out += fmt::format(" = {}", fmt::join(tensor.values, ","));
    out += "\n";
  }
  for (auto& [what, family] : families) {
    out += what + "\n";
    join_neighbours(family.boxes);
    std::sort(family.others.begin(), family.others.end());
    for (const Parallelepiped& box : family.boxes) out += "  " + print_box(box) + "\n";
    for (const std::string& other : family.others) out += "  " + other + "\n";
  }
  return out;
}

}  // namespace lathe
