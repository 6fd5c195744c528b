// elements.cpp: variables and memory. Interface: elements.h.
#include "codegen/elements.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "codegen/numbers.h"

namespace lathe {
namespace {

using poly::Affine;

/// Returns which tensors other places touch.
std::vector<bool> touched_outside(const LoopTree& tree, size_t place) {
  std::vector<bool> result(tree.nest.tensors().size(), false);
  for (size_t i = 0; i < tree.places.size(); ++i) {
    if (i == place) continue;
    for (size_t t = 0; t < result.size(); ++t) {
      result[t] = result[t] || !touching(t, tree.places[i], tree.nest).empty();
    }
  }
  return result;
}

}  // namespace

Elements::Elements(const LoopTree& tree, size_t place, const Bindings& bindings, Code& code,
                   CodeWriter& writer)
    : tree_(tree),
      root_(tree.places[place]),
      bindings_(bindings),
      target_(bindings.target()),
      code_(code),
      writer_(writer),
      tile_numbers_(numbers_of_tensors(tree.nest, bindings.target())),
      outside_(touched_outside(tree, place)) {}

// ---- register tiles -----------------------------------------------------------------------------

void Elements::with_tiles(const std::vector<LoopNode>& nodes, const std::function<void()>& write) {
  std::vector<size_t> begun = begin_tiles(nodes);
  write();
  for (size_t tensor : begun) end_tile(tensor);
}

std::vector<size_t> Elements::begin_tiles(const std::vector<LoopNode>& nodes) {
  std::set<size_t> candidates;
  // What threads hand on at a barrier inside must be in memory there.
  bool hands_on = !tree_.handed.empty() && has_barrier(nodes);
  for (size_t tensor : written_in(nodes, tree_.nest)) {
    if (hands_on && tree_.handed[tensor]) continue;
    if (!tiles_.contains(tensor)) candidates.insert(tensor);
  }
  if (candidates.empty() || nodes.empty()) return {};
  std::vector<Touch> touches = touches_of(nodes, bindings_, tree_.nest);
  size_t depth = nodes.front().depth;
  for (const LoopNode& node : nodes) depth = std::min(depth, node.depth);
  std::vector<size_t> begun;
  for (size_t tensor : candidates) {
    auto tile = tile_of(tensor, touches, depth, most_in_registers(tensor));
    if (!tile) continue;
    bool elsewhere = code_.tensors[tensor].role != Role::local || outside_[tensor] ||
                     !is_complete(tensor, nodes, *tile);
    for (auto& [constant, slot] : tile->slots) {
      slot.variable = writer_.variable(slot.lanes, tile_numbers_[tensor], slot.rows);
      slot.store = slot.store && elsewhere;
      if (slot.load) load_slot(tensor, *tile, constant, slot);
    }
    tiles_.emplace(tensor, std::move(*tile));
    homes_[tensor] = writer_.block();
    begun.push_back(tensor);
  }
  return begun;
}

long Elements::most_in_registers(size_t tensor) const {
  constexpr long by_far = 2;  // the compiler keeps some more in memory at little cost
  if (target_.has_warps()) {
    return by_far * target_.gpu.registers * size_of(Number::f32) / size_of(tile_numbers_[tensor]);
  }
  return by_far * target_.cpu.registers * target_.cpu.vector_bytes / size_of(tile_numbers_[tensor]);
}

bool Elements::is_complete(size_t tensor, const std::vector<LoopNode>& nodes,
                           const Tile& tile) const {
  bool loads = std::any_of(tile.slots.begin(), tile.slots.end(),
                           [](const auto& slot) { return slot.second.load; });
  return !loads && touching(tensor, nodes, tree_.nest) == touching(tensor, root_, tree_.nest);
}

void Elements::load_slot(size_t tensor, const Tile& tile, long constant, const Tile::Slot& slot) {
  Instruction load{Instruction::Kind::load};
  load.to = slot.variable;
  load.tensor = tensor;
  load.offset = tile.at(constant);
  load.stride = slot.stride;
  load.row_stride = slot.row_stride;
  code_.used[tensor] = true;
  writer_.put(std::move(load));
}

void Elements::end_tile(size_t tensor) {
  Tile& tile = tiles_.at(tensor);
  for (auto& [constant, slot] : tile.slots) {
    store_slot(tensor, tile, constant, slot);
    writer_.drop(slot.variable);
  }
  tiles_.erase(tensor);
}

void Elements::store_slot(size_t tensor, const Tile& tile, long constant, Tile::Slot& slot) {
  if (!std::exchange(slot.store, false)) return;
  writer_.settle(slot.variable);
  if (slot.rows > 0) {
    return writer_.store(tensor, tile.at(constant), slot.stride, slot.lanes, slot.variable,
                         slot.row_stride);
  }
  store(tensor, tile.at(constant), slot.lanes == 1 ? 0 : slot.stride, slot.variable);
}

void Elements::count_write(size_t tensor, const Affine& at) {
  auto tile = tiles_.find(tensor);
  if (tile == tiles_.end()) return;
  Tile::Slot& slot = tile->second.slots.at(at.constant);
  if (--slot.writes == 0 && homes_.at(tensor) == writer_.block()) {
    store_slot(tensor, tile->second, at.constant, slot);
  }
}

// ---- values -------------------------------------------------------------------------------------

std::optional<Tile::Slot> Elements::slot_of(size_t tensor, const Affine& at) const {
  auto tile = tiles_.find(tensor);
  if (tile == tiles_.end()) return std::nullopt;
  auto slot = tile->second.slots.find(at.constant);
  check(slot != tile->second.slots.end(), "a tile has all elements that its body touches");
  return slot->second;
}

size_t Elements::value(size_t tensor, const Affine& offset, Number number) {
  Affine at = this->at(offset);
  long step = bindings_.lane_step(offset);
  if (auto slot = slot_of(tensor, at)) {
    return writer_.converted(writer_.read(slot->variable), number);
  }
  if (step == 0 && target_.cpu.lane_products && bindings_.in_lanes()) {
    if (auto value = lane_of_neighbours(tensor, offset, at, number)) return *value;
  }
  return writer_.load(tensor, at, step, step == 0 ? 1 : bindings_.lanes(), number);
}

size_t Elements::old_value(size_t tensor, const Affine& at, long step, Number number) {
  if (auto slot = slot_of(tensor, at)) {
    writer_.settle(slot->variable);
    return writer_.converted(slot->variable, number);
  }
  return writer_.load(tensor, at, step, step == 0 ? 1 : bindings_.lanes(), number);
}

size_t Elements::common_factors(size_t tensor, const Affine& offset, long terms, long& group) {
  long groups = target_.cpu.vector_bytes / size_of(code_.tensors[tensor].element) / terms;
  Affine at = this->at(offset);
  Number number = code_.tensors[tensor].element;
  if (target_.cpu.lane_products) {
    if (auto found = neighbours_of(offset, terms, groups)) {
      at.constant -= terms * (found->index - found->first);
      group = found->index - found->first;
      return writer_.load(tensor, at, 1, terms * groups, number);
    }
  }
  group = 0;
  return writer_.load(tensor, at, 1, terms, number);
}

std::optional<Elements::Neighbours> Elements::neighbours_of(const Affine& offset, long step,
                                                            long count) const {
  for (size_t depth = 0; depth < offset.coefficients.size(); ++depth) {
    auto unrolled = bindings_.unrolled(depth);
    if (offset.coefficients[depth] != step || !unrolled) continue;
    bool in_floor = std::any_of(
        offset.floors.begin(), offset.floors.end(),
        [&](const Affine::Floor& floor) -> bool { return poly::involved(floor.of)[depth]; });
    if (in_floor) continue;
    long index = unrolled->index, first = index / count * count;
    if (first + count <= unrolled->count) return Neighbours{first, index};
  }
  return std::nullopt;
}

std::optional<size_t> Elements::lane_of_neighbours(size_t tensor, const Affine& offset,
                                                   const Affine& at, Number number) {
  long group = target_.cpu.vector_bytes / size_of(number);
  auto found = neighbours_of(offset, 1, group);
  if (!found) return std::nullopt;
  Affine begin = at;
  begin.constant -= found->index - found->first;
  Instruction splat{Instruction::Kind::splat, 0, {writer_.load(tensor, begin, 1, group, number)}};
  splat.lane = found->index - found->first;
  return writer_.emit(std::move(splat), bindings_.lanes(), number);
}

void Elements::write(size_t tensor, const Affine& at, long step, size_t value) {
  if (auto slot = slot_of(tensor, at)) {
    writer_.set(slot->variable, value);
    count_write(tensor, at);
    return;
  }
  store(tensor, at, step, value);
}

void Elements::store(size_t tensor, const Affine& at, long step, size_t value) {
  long lanes = step == 0 ? 1 : std::max(bindings_.lanes(), writer_.lanes(value));
  writer_.store(tensor, at, step, lanes, value);
}

}  // namespace lathe
