// adjoint_draft.cpp: from the statements of a gradient to its nest. Interface: adjoint_draft.h.
#include "nest/adjoint_draft.h"

#include <algorithm>

namespace lathe {
namespace {

/// By convention "co" counts what is written, and "ci" what is summed up.
void rename_channels(Statement& s) {
  auto co = std::find(s.dims.begin(), s.dims.end(), "co");
  auto ci = std::find(s.dims.begin(), s.dims.end(), "ci");
  if (co == s.dims.end() || ci == s.dims.end()) return;
  bool writes_co = poly::involves(s.write.at, static_cast<size_t>(co - s.dims.begin()));
  bool writes_ci = poly::involves(s.write.at, static_cast<size_t>(ci - s.dims.begin()));
  if (writes_ci && !writes_co) std::swap(*co, *ci);
}

}  // namespace

AdjointDraft::AdjointDraft(const Nest& nest, size_t by)
    : nest_(nest), by_(by), count_(nest.tensors().size()), copied_(count_, false) {
  for (const Tensor& tensor : nest.tensors()) names_.insert(tensor.name);
}

std::string AdjointDraft::fresh(const std::string& name) {
  std::string result = name;
  for (int i = 2; !names_.insert(result).second; ++i) result = fmt::format("{}{}", name, i);
  return result;
}

std::vector<long> AdjointDraft::gradient_shape(size_t t) const {
  std::vector<long> shape = original(t).shape;
  if (t != by_) return shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] -= original(t).pad[d].before + original(t).pad[d].after;
  }
  return shape;
}

// Values.

/// Puts the statements before all others that compute the values which gradients need.
void AdjointDraft::add_values() {
  std::vector<size_t> order = sequence(nest_.order);
  std::vector<bool> needed(count_, false);
  auto need = [&](const Statement& s) {
    for (const Access& access : s.reads) {
      if (access.tensor < count_) needed[access.tensor] = true;
    }
  };
  for (const Statement& s : statements_) need(s);
  std::vector<bool> taken(order.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i : order) {
      const Statement& s = nest_.statements()[i];
      if (taken[i] || !needed[s.write.tensor] || is_output(s.write.tensor)) continue;
      taken[i] = changed = true;
      need(s);
    }
  }
  std::vector<Statement> values;
  for (size_t i : order) {
    if (taken[i]) values.push_back(nest_.statements()[i]);
  }
  statements_.insert(statements_.begin(), values.begin(), values.end());
}

// Bounds.

std::vector<long> AdjointDraft::shape_of(size_t t) const {
  if (t < count_) return original(t).shape;
  if (t < 2 * count_) return gradient_shape(t - count_);
  return extras_[t - 2 * count_].shape;
}

/// May zeros be read around the tensor? It is an operand, not a weight, and has no other padding.
bool AdjointDraft::can_be_padded(size_t t) const {
  if (t >= 2 * count_) return false;
  if (t >= count_) return is_output(t - count_) && !copied_[t - count_];
  return is_output(t) || (original(t).role == Role::input && original(t).padding == 0);
}

/// Makes every read one of an element that is there: of the padding, or by fewer instances.
void AdjointDraft::settle_bounds() {
  wider_.resize(2 * count_ + extras_.size());
  for (size_t t = 0; t < wider_.size(); ++t) wider_[t].resize(shape_of(t).size());
  for (Statement& s : statements_) {
    if (!poly::is_box_from_zero(s.domain)) continue;
    for (const Access& access : s.reads) restrict(s, access);
  }
  for (Statement& s : statements_) {
    for (const Access& access : s.reads) widen(s, access);
  }
  for (Statement& s : statements_) {
    for (Access& access : s.reads) {
      std::vector<isl::aff> indices = poly::parts(access.at);
      for (size_t d = 0; d < indices.size(); ++d) {
        indices[d] = indices[d].add_constant(wider_[access.tensor][d].before);
      }
      access.at = poly::tuple(s.domain.space(), indices);
    }
  }
}

void AdjointDraft::restrict(Statement& s, const Access& access) const {
  if (can_be_padded(access.tensor)) return;
  isl::space space = s.domain.space();
  std::vector<long> shape = shape_of(access.tensor);
  for (size_t d = 0; d < shape.size(); ++d) {
    isl::aff index = access.at.at(static_cast<int>(d));
    poly::Interval reach = poly::range(s.domain, index);
    if (reach.lower >= 0 && reach.upper < shape[d]) continue;
    s.domain = poly::boxed(s.domain.intersect(index.ge_set(poly::constant(space, 0)))
                               .intersect(index.lt_set(poly::constant(space, shape[d]))));
  }
}

void AdjointDraft::widen(const Statement& s, const Access& access) {
  std::vector<long> shape = shape_of(access.tensor);
  for (size_t d = 0; d < shape.size(); ++d) {
    poly::Interval reach = poly::range(s.domain, access.at.at(static_cast<int>(d)));
    Pad& pad = wider_[access.tensor][d];
    pad.before = std::max(pad.before, -reach.lower);
    pad.after = std::max(pad.after, reach.upper - (shape[d] - 1));
  }
}

// The nest.

Tensor AdjointDraft::gradient_tensor(size_t t, Role role) {
  Tensor tensor = original(t);
  tensor.name = fresh("d" + tensor.name);
  tensor.role = role;
  tensor.shape = gradient_shape(t);
  tensor.padding = 0;
  tensor.values.clear();
  tensor.pad.assign(tensor.shape.size(), {});
  return tensor;
}

Adjoint AdjointDraft::assembled() {
  std::vector<bool> used(wider_.size(), false);
  for (const Statement& s : statements_) {
    used[s.write.tensor] = true;
    for (const Access& access : s.reads) used[access.tensor] = true;
  }
  std::vector<Tensor> tensors;
  std::vector<size_t> places(wider_.size());
  Adjoint result;
  auto add = [&](size_t t, Tensor tensor) {
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      tensor.pad[d].before += wider_[t][d].before;
      tensor.pad[d].after += wider_[t][d].after;
      tensor.shape[d] += wider_[t][d].before + wider_[t][d].after;
    }
    places[t] = tensors.size();
    tensors.push_back(std::move(tensor));
  };
  for (bool outputs : {false, true}) {
    for (size_t t = 0; t < count_; ++t) {
      Role role = original(t).role;
      bool operand = outputs ? role == Role::output : role == Role::input || role == Role::weight;
      if (!used[t] || !operand) continue;
      Tensor tensor = original(t);
      if (outputs) tensor.role = Role::input;
      add(t, tensor);
      result.values.push_back(t);
    }
  }
  for (size_t t = 0; t < count_; ++t) {
    if (!is_output(t)) continue;
    if (!copied_[t] && used[gradient(t)]) {
      add(gradient(t), gradient_tensor(t, Role::input));
      result.gradients.push_back(t);
    }
    for (const Given& given : given_) {
      if (given.output != t || !used[given.tensor]) continue;
      add(given.tensor, extras_[given.tensor - 2 * count_]);
      result.gradients.push_back(t);
    }
  }
  add(gradient(by_), gradient_tensor(by_, Role::output));
  for (size_t t = 0; t < used.size(); ++t) {
    bool operand =
        t < count_ ? original(t).role != Role::local && original(t).role != Role::constant : false;
    if (!used[t] || operand || t == gradient(by_)) continue;
    if (t < count_) {
      add(t, original(t));
    } else if (t < 2 * count_) {
      if (!is_output(t - count_) || copied_[t - count_])
        add(t, gradient_tensor(t - count_, Role::local));
    } else if (extras_[t - 2 * count_].role != Role::input) {
      add(t, extras_[t - 2 * count_]);
    }
  }
  std::vector<Order> order;
  std::set<std::string> names;
  for (Statement& s : statements_) {
    std::string name = s.name;
    for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}{}", s.name, i);
    s.name = name;
    s.origin = {name, poly::identity(s.domain.space())};
    rename_channels(s);
    s.write.tensor = places[s.write.tensor];
    for (Access& access : s.reads) access.tensor = places[access.tensor];
    order.push_back(plain_order(s, {static_cast<long>(order.size())}));
  }
  result.nest = make_nest("d" + nest_.name, std::move(tensors), statements_, std::move(order));
  return result;
}

Adjoint AdjointDraft::finished() {
  add_values();
  settle_bounds();
  return assembled();
}

}  // namespace lathe
