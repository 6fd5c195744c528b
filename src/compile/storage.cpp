// storage.cpp: where values lie. Interface: storage.h.
#include "compile/storage.h"

namespace lathe {

bool has_data(const Value& value) {
  return value.kind != Value::Kind::input && value.kind != Value::Kind::computed;
}

bool is_there(const Graph& graph, ValueId id) {
  return id != no_value && count_of(graph.values[id].type.shape) > 0;
}

ValueId root_of(const Graph& graph, ValueId id) {
  while (graph.values[id].storage.whole != no_value) id = graph.values[id].storage.whole;
  return id;
}

Layout layout_of(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  if (value.storage.whole != no_value) {
    Layout layout = layout_of(graph, value.storage.whole);
    const Layout::Axis& channels = layout.axes[1];
    layout.origin += value.storage.first / channels.block * channels.outer;
    return layout;
  }
  Shape shape = value.type.shape;
  const auto& border = value.storage.border;
  for (size_t i = 0; i < border.size(); ++i) shape[i] += border[i].before + border[i].after;
  Layout layout = blocked_layout(shape, value.storage.block);
  for (size_t i = 0; i < border.size(); ++i)
    layout.origin += border[i].before * layout.axes[i].outer;
  return layout;
}

}  // namespace lathe
