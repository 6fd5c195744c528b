// The nodes of an ONNX graph, translated in an order in which they can run: those of a model, and
// those of the bodies of control flow.
#pragma once

#include <variant>

#include "onnx/site.h"

namespace lathe {

/// What a name stands for: a tensor or a list of tensors.
using TensorOrList = std::variant<ValueId, std::vector<ValueId>>;

/// Refuses all operators that there is no translation for at once, those of bodies too.
void check_operators(const ImportState& state, const onnx::GraphProto& graph);

/// Translates the nodes of a graph whose inputs and initialisers have values.
void translate_nodes(ImportState& state, const onnx::GraphProto& graph);

/// Translates a body of the node at "site", whose inputs are given, and returns its outputs. The
/// body sees the names outside of it; its own are gone afterwards.
std::vector<TensorOrList> translate_body(const Site& site, const onnx::GraphProto& body,
                                         const std::vector<TensorOrList>& inputs);

}  // namespace lathe
