// padding.cpp: nests without padding. Interface: padding.h.
#include "compile/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "nest/builder.h"
#include "poly/relation.h"

namespace lathe {
namespace {

std::vector<long> inner_shape(const Tensor& tensor) {
  std::vector<long> shape = tensor.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] -= tensor.pad[i].before + tensor.pad[i].after;
  return shape;
}

/// Does an instance that reads the padding change nothing?
bool is_neutral(const Statement& s, const Tensor& tensor) {
  bool plain = s.value.op == Expr::Op::read;
  double lowest = -std::numeric_limits<double>::infinity();
  return s.update == Update::maximum && plain && tensor.padding == lowest;
}

/// Returns the access to the tensor without padding.
isl::multi_aff shifted(const isl::multi_aff& at, const Tensor& tensor) {
  std::vector<isl::aff> parts = poly::parts(at);
  isl::space space = at.domain().space();
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = parts[i].sub(poly::constant(space, tensor.pad[i].before));
  }
  return poly::tuple(space, parts);
}

Nest without_neutral_reads(const Nest& nest, size_t tensor) {
  std::vector<Tensor> tensors = nest.tensors();
  std::vector<Statement> statements = nest.statements();
  const Tensor& padded = nest.tensors()[tensor];
  tensors[tensor].shape = inner_shape(padded);
  tensors[tensor].pad.assign(padded.pad.size(), {});
  isl::set inside = poly::box(nest.ctx(), tensors[tensor].shape);
  std::vector<Order> order;
  for (size_t i = 0; i < statements.size(); ++i) {
    for (Access& access : statements[i].reads) {
      if (access.tensor != tensor) continue;
      access.at = shifted(access.at, padded);
      statements[i].domain = poly::mapped_into(statements[i].domain, access.at, inside);
    }
    order.push_back(nest.order[i]);
  }
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

/// Returns a name for each dimension of a tensor: the loop that walks it where one statement reads
/// it, so that loops which walk it alike can be merged.
std::vector<std::string> names_of_dimensions(const Nest& nest, size_t tensor) {
  std::vector<std::string> names(nest.tensors()[tensor].shape.size());
  for (const Statement& s : nest.statements()) {
    for (const Access& access : s.reads) {
      if (access.tensor != tensor) continue;
      std::vector<isl::aff> parts = poly::parts(access.at);
      isl::space space = s.domain.space();
      for (size_t i = 0; i < names.size(); ++i) {
        for (size_t k = 0; k < s.dims.size() && names[i].empty(); ++k) {
          if (poly::same(parts[i], poly::coordinate(space, k))) names[i] = s.dims[k];
        }
      }
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = fmt::format("p{}", i);
  }
  return names;
}

/// Returns the statement that sets, or copies to, each element of a box of the new tensor, "corner"
/// being its first. Dimensions of one element have no loop.
Statement over_box(const Nest& nest, const std::string& name, const std::vector<long>& extents,
                   const std::vector<std::string>& names, size_t tensor,
                   const std::vector<long>& corner) {
  Statement s;
  s.name = fresh_name(nest, name);
  std::vector<long> loops;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    loops.push_back(extents[i]);
    s.dims.push_back(names[i]);
  }
  s.domain = poly::box(nest.ctx(), loops);
  isl::space space = s.domain.space();
  std::vector<isl::aff> from, to;
  size_t next = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    from.push_back(extents[i] == 1 ? poly::constant(space, 0) : poly::coordinate(space, next++));
    to.push_back(from.back().add(poly::constant(space, corner[i])));
  }
  s.reads = {{tensor, poly::tuple(space, from)}};
  s.write = {tensor, poly::tuple(space, to)};
  s.origin = {s.name, poly::identity(space)};
  return s;
}

Nest with_padded_copy(const Nest& nest, size_t tensor) {
  std::vector<Tensor> tensors = nest.tensors();
  Tensor copy = tensors[tensor];
  copy.name = fresh_name(nest, copy.name + ".padded");
  copy.role = Role::local;
  std::vector<long> corner;
  for (const Pad& pad : copy.pad) corner.push_back(pad.before);
  size_t to = tensors.size();
  double padding = copy.padding;
  tensors[tensor].shape = inner_shape(copy);
  tensors[tensor].pad.assign(copy.pad.size(), {});
  std::vector<std::string> names = names_of_dimensions(nest, tensor);
  std::vector<long> none(corner.size(), 0);
  Statement fill = over_box(nest, "border", copy.shape, names, to, none);
  fill.reads.clear();
  fill.value = number(padding);
  Statement move = over_box(nest, "copy", tensors[tensor].shape, names, to, corner);
  move.reads.front().tensor = tensor;
  move.value = read(0);
  copy.pad.assign(copy.pad.size(), {});
  tensors.push_back(std::move(copy));

  std::vector<Statement> statements = nest.statements();
  for (Statement& s : statements) {
    for (Access& access : s.reads) {
      if (access.tensor == tensor) access.tensor = to;
    }
  }
  std::vector<Order> order = nest.order;
  for (Order& o : order) o.at[0] += 2;
  order.push_back(plain_order(fill, {0}));
  order.push_back(plain_order(move, {1}));
  statements.push_back(std::move(fill));
  statements.push_back(std::move(move));
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

}  // namespace

bool is_padded(const std::vector<Pad>& pads) {
  return std::any_of(pads.begin(), pads.end(),
                     [](const Pad& pad) { return pad.before > 0 || pad.after > 0; });
}

Nest without_padding(const Nest& nest, size_t tensor) {
  bool neutral =
      std::all_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
        bool reads = std::any_of(s.reads.begin(), s.reads.end(),
                                 [&](const Access& a) { return a.tensor == tensor; });
        return !reads || is_neutral(s, nest.tensors()[tensor]);
      });
  return neutral ? without_neutral_reads(nest, tensor) : with_padded_copy(nest, tensor);
}

Nest border_of(isl::ctx ctx, const std::vector<long>& shape, const std::vector<Pad>& border,
               double padding, Element element) {
  NestBuilder b(ctx, "border");
  std::vector<long> whole = shape;
  for (size_t i = 0; i < shape.size(); ++i) whole[i] += border[i].before + border[i].after;
  size_t O = b.tensor("O", Role::output, whole, element);
  // Of each dimension the elements before and after, inside the dimensions before it.
  for (size_t d = 0; d < shape.size(); ++d) {
    for (bool after : {false, true}) {
      long extent = after ? border[d].after : border[d].before;
      if (extent == 0) continue;
      StatementBuilder::Extents loops;
      for (size_t i = 0; i < shape.size(); ++i) {
        loops.emplace_back(fmt::format("i{}", i), i < d ? shape[i] : i == d ? extent : whole[i]);
      }
      auto& s = b.statement(fmt::format("{}{}", after ? "after" : "before", d), loops);
      std::vector<Index> at;
      for (size_t i = 0; i < shape.size(); ++i) {
        long first = i < d ? border[i].before : i == d && after ? border[i].before + shape[i] : 0;
        at.push_back(s[fmt::format("i{}", i)] + first);
      }
      s.assign(O, at, number(padding));
    }
  }
  return b.build();
}

}  // namespace lathe
