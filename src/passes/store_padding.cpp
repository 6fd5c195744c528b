// store_padding.cpp: values are stored with the zeros around them that their users read. Integers
// that stand for numbers have what stands for 0.
//
//   relu -> conv(pads=[1, 1, 1, 1])      relu writes into the middle of a frame of zeros
//
// So the tensor is not copied into a larger one, and no loop asks where the border is. Windows that
// slide by 1 may be computed in tiles, the last of which reaches beyond the values: the border is
// wide enough for whole tiles.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memo.h"
#include "nest/slide.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace lathe::passes {
namespace {

/// Outputs of a tile's row: of the tiles that are taken where there are enough outputs, and where
/// there are not.
constexpr long tile = 4, small_tile = 2;

/// Widens the padding behind the data of windows that slide by 1, so that their tiles are whole.
void widen_for_tiles(const Statement& s, std::vector<Tensor>& tensors) {
  try {
    Sliding sliding = find_sliding(s);
    for (const Slide& slide : sliding.slides) {
      long whole = slide.positions > tile ? tile : small_tile;
      Pad& pad = tensors[s.reads[sliding.data].tensor].pad[slide.in_data];
      pad.after += (whole - slide.positions % whole) % whole;
    }
  } catch (const UserError&) {
    return;  // no window slides
  }
}

/// Returns the operands of a nest, in order, with the padding that they should have.
std::vector<Tensor> operands(const Nest& nest) {
  std::vector<Tensor> tensors = nest.tensors(), result;
  for (const Statement& s : nest.statements()) {
    if (s.update == Update::add) widen_for_tiles(s, tensors);
  }
  for (const Tensor& tensor : tensors) {
    if (tensor.role == Role::input || tensor.role == Role::weight) result.push_back(tensor);
  }
  return result;
}

/// Returns those of a call's nest: found once for all graphs that have the call.
std::shared_ptr<const std::vector<Tensor>> operands_of(const Call& call) {
  static Memo<std::vector<Tensor>> memo;
  return memo.of(print(call), [&] {
    Context context;
    return operands(nest_of(context, call));
  });
}

bool is_padded(const Tensor& tensor) {
  return std::any_of(tensor.pad.begin(), tensor.pad.end(),
                     [](const Pad& pad) { return pad.before > 0 || pad.after > 0; });
}

void widen(std::vector<Pad>& border, const std::vector<Pad>& pad) {
  border.resize(pad.size());
  for (size_t i = 0; i < pad.size(); ++i) {
    border[i].before = std::max(border[i].before, pad[i].before);
    border[i].after = std::max(border[i].after, pad[i].after);
  }
}

/// Says of each value whether it can have a border: its producer writes it, and callers do not see
/// it.
std::vector<bool> can_have_border(const Graph& graph) {
  std::vector<bool> result;
  for (const Value& value : graph.values) {
    result.push_back(value.kind == Value::Kind::computed && value.storage.whole == no_value);
  }
  for (ValueId id : graph.outputs) result[id] = false;
  for (const Value& value : graph.values) {
    if (value.storage.whole != no_value) result[value.storage.whole] = false;
  }
  return result;
}

Graph run_store_padding(const Graph& graph, const PassContext& /*context*/) {
  Graph result = graph;
  std::vector<bool> can_be_wider = can_have_border(graph);
  for (const Node& node : graph.nodes) {
    Call call = call_of(graph, node);
    if (!has_nest(call)) continue;
    std::shared_ptr<const std::vector<Tensor>> tensors = operands_of(call);
    size_t next = 0;
    for (ValueId id : node.inputs) {
      if (id == no_value || count_of(graph.values[id].type.shape) == 0) continue;
      const Tensor& tensor = tensors->at(next++);
      Storage& storage = result.values[id].storage;
      // A tensor has one border. What is no number of its type cannot be stored.
      bool is_first = storage.border.empty();
      if (!is_padded(tensor) || !std::isfinite(tensor.padding) || !can_be_wider[id]) continue;
      if (!is_first && storage.padding != tensor.padding) continue;
      if (tensor.pad.size() != graph.values[id].type.shape.size()) continue;
      storage.padding = tensor.padding;
      widen(storage.border, tensor.pad);
    }
  }
  return result;
}

}  // namespace

Pass store_padding() {
  return {"StorePadding", "store values with the zeros around them that their users read",
          run_store_padding, Pass::Stage::storage};
}

}  // namespace lathe::passes
