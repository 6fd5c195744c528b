// A node of a graph while it is written in Python: its call, and its operands' names there.
// torch_layers.cpp and torch_ops.cpp hold the translations.
//
// Operators that hold weights are modules where the weights are their own; elsewhere, and for all
// others, functions stand for them.
#pragma once

#include <functional>

#include "ops/op.h"

namespace lathe {

/// A module of PyTorch's that holds operands of a node.
struct TorchLayer {
  std::string constructor;           ///< nn.Conv2d(3, 16, 3, padding=1)
  std::vector<std::string> members;  ///< what each operand is in it; empty: it is no part of it
  bool is_convolution = false;
};

class TorchSite {
 public:
  TorchSite(const Call& call, const Type& output) : call_(call), output_(output) {}

  const Call& call() const { return call_; }
  const Shape& shape(size_t i = 0) const { return call_.shape(i); }
  const Shape& output() const { return output_.shape; }

  std::vector<std::string> inputs = {};  ///< as Python; empty where one is left out
  /// For each operand: is it learnt, or kept by training, and read by no other node?
  std::vector<bool> learnt = {}, kept = {};
  /// How many samples there are, as Python, where the result has them but operand 0 does not.
  std::string samples = {};
  std::string layer = {};  ///< the module as Python; empty where there is none

  const std::string& x() const { return inputs[0]; }
  /// Returns operand i as Python, or "None".
  std::string operand(size_t i) const;

 private:
  const Call& call_;
  const Type& output_;
};

/// How an operator is written in PyTorch.
struct TorchForm {
  /// Returns the expression of the only output.
  std::function<std::string(const TorchSite&)> write;
  /// Returns the module of the node if it is one; null: it never is.
  std::function<std::optional<TorchLayer>(const TorchSite&)> layer = nullptr;
};

/// Returns the translations by the operators' names; those of layers and windows alone.
const std::map<std::string, TorchForm>& torch_forms();
std::map<std::string, TorchForm> torch_layer_forms();

/// Names PyTorch's type of such elements, "torch.float32", if there is one.
std::optional<std::string> torch_type(Element element);

/// Writes numbers: 1e-05, float("inf"); (1, 2), (3,).
std::string print_number(double value);
std::string print_tuple(const Shape& list);

/// Writes "x" with a value around it, as many as F.pad() is told; just "x" where that is nothing.
std::string padded(const std::string& x, const Shape& around, double value = 0);

}  // namespace lathe
