// padding.cpp: nests without padding. Interface: padding.h.
#include "compile/padding.h"

#include <algorithm>
#include <limits>

#include "compile/boxes.h"
#include "poly/relation.h"

namespace lathe {
namespace {

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

/// Returns the loops that walk the dimensions of a tensor where it is first read.
std::vector<std::string> loops_over(const Nest& nest, size_t tensor) {
  for (const Statement& s : nest.statements()) {
    for (const Access& read : s.reads) {
      if (read.tensor == tensor) return loops_of(s, read);
    }
  }
  return std::vector<std::string>(nest.tensors()[tensor].shape.size());
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
  std::vector<std::string> names = loops_over(nest, tensor);
  std::vector<long> none(corner.size(), 0);
  Statement fill = copy_of_box(nest, "border", copy.shape, names, tensor, to, none);
  fill.reads.clear();
  fill.value = number(padding);
  Statement move = copy_of_box(nest, "copy", tensors[tensor].shape, names, tensor, to, corner);
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

Nest with_wider_padding(const Nest& nest, size_t tensor, const std::vector<Pad>& border) {
  std::vector<Tensor> tensors = nest.tensors();
  Tensor& wider = tensors[tensor];
  for (size_t i = 0; i < border.size(); ++i) {
    wider.shape[i] += border[i].after - wider.pad[i].after;
    wider.pad[i].after = border[i].after;
  }
  auto meaning = std::make_shared<Meaning>(std::move(tensors), nest.statements(), nest.order);
  return {nest.name, std::move(meaning), nest.order};
}

}  // namespace lathe
