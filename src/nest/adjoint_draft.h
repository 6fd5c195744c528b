// The nest of a gradient while its statements are found: how its tensors are numbered, and how a
// nest is made of the statements. For adjoint.cpp only.
#pragma once

#include <set>

#include "nest/adjoint.h"

namespace lathe {

class AdjointDraft {
 protected:
  AdjointDraft(const Nest& nest, size_t by);

  /// While the nest is made, tensors are numbered: values of the original's, their gradients, and
  /// what else is needed.
  size_t gradient(size_t tensor) const { return count_ + tensor; }
  size_t add_extra(Tensor tensor) {
    extras_.push_back(std::move(tensor));
    return 2 * count_ + extras_.size() - 1;
  }

  const Tensor& original(size_t t) const { return nest_.tensors()[t]; }
  bool is_output(size_t t) const { return original(t).role == Role::output; }

  /// Returns the shape of a gradient: that of the result has no padding.
  std::vector<long> gradient_shape(size_t t) const;

  /// Returns the shape of a tensor by its number. May zeros be read around it? It is an operand,
  /// not a weight, and has no other padding.
  std::vector<long> shape_of(size_t t) const;
  bool can_be_padded(size_t t) const;

  /// Returns a name that no tensor has.
  std::string fresh(const std::string& name);

  /// Makes the nest of the statements: before them the values that they need and that only the
  /// original knew (a mean, a largest element), which are computed again; every read is one of an
  /// element that is there.
  Adjoint finished();

  /// The gradient of an output that is given apart from the one that more is added to.
  struct Given {
    size_t output, tensor;
  };

  const Nest& nest_;
  size_t by_, count_;           // the tensor that it is by, and how many there are
  std::vector<bool> copied_;    // is the gradient of an output copied, as more is added to it?
  std::vector<Given> given_;    // those
  std::vector<Tensor> extras_;  // what else is needed
  std::vector<Statement> statements_;  // in sequence

 private:
  std::vector<std::vector<Pad>> wider_;  // the padding that each tensor needs beyond its own
  std::set<std::string> names_;

  void add_values();
  void settle_bounds();
  void restrict(Statement& s, const Access& access) const;
  void widen(const Statement& s, const Access& access);
  Tensor gradient_tensor(size_t t, Role role);
  Adjoint assembled();
};

}  // namespace lathe
