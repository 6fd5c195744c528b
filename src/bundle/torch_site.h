// A node of a graph while it is written in Python: its call, and its operands' names there.
// torch_layers.cpp and torch_ops.cpp hold the translations.
//
// An operator becomes a module if it has weights that no other node reads. Any other operator
// becomes an expression.
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

/// Returns all translations, by the operators' names.
const std::map<std::string, TorchForm>& torch_forms();
/// Returns those of layers and windows, which torch_layers.cpp holds.
std::map<std::string, TorchForm> torch_layer_forms();

/// Returns the name of PyTorch's type for an element, "torch.float32"; nothing if it has none.
std::optional<std::string> torch_type(Element element);

/// Writes numbers: 1e-05, float("inf"); (1, 2), (3,).
std::string print_number(double value);
std::string print_tuple(const Shape& list);

/// Writes "x" padded with a value; "around" is what F.pad() takes. Writes just "x" if that adds
/// nothing.
std::string padded(const std::string& x, const Shape& around, double value = 0);

}  // namespace lathe
