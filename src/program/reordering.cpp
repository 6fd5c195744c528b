// reordering.cpp: instances that change places with the elements that they access. Interface:
// reordering.h.
//
// All instances of a part (program/instances.h) are listed twice: by the elements of known tensors
// that they access, and by what was at these places before. Both lists must be the same. Instances
// at the same place of both lists change places.
#include "program/reordering.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "poly/isl.h"
#include "program/instances.h"
#include "program/places.h"

namespace lathe {
namespace {

/// What instances access: for each one a row of places.
struct AccessTable {
  size_t width;
  std::vector<long> places;

  size_t rows() const { return places.size() / width; }
  std::span<const long> row(size_t i) const { return {places.data() + i * width, width}; }
  bool less(size_t a, const AccessTable& other, size_t b) const {
    auto left = row(a), right = other.row(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  }
  /// Returns the rows in the order of what they hold.
  std::vector<size_t> sorted() const {
    std::vector<size_t> order(rows());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return less(a, *this, b); });
    return order;
  }
};

bool is_identity(const std::vector<long>& from) {
  for (size_t p = 0; p < from.size(); ++p) {
    if (from[p] != static_cast<long>(p)) return false;
  }
  return true;
}

/// Exchanges the instances of one statement.
class Exchange {
 public:
  Exchange(const Nest& nest, const Statement& statement,
           const std::vector<std::optional<Reorderings>>& known,
           const std::vector<std::string>& names)
      : nest_(nest), statement_(statement), names_(names), parts_(statement) {
    add(statement.write, known);
    for (const Access& access : statement.reads) add(access, known);
    for (const Places& places : known_) {
      std::vector<bool> coordinates(statement.dims.size());
      for (size_t c = 0; c < coordinates.size(); ++c) coordinates[c] = places.depend_on({c});
      parts_.join(coordinates);
    }
    for (const Found& found : found_) {
      for (const CountedDimension& d : found.all.counted) parts_.join(d.involved);
    }
  }

  /// Returns the reorderings of the tensors that were not known.
  std::vector<std::pair<size_t, Reorderings>> run() {
    for (const std::vector<size_t>& part : parts_.all()) {
      bool moves = std::any_of(known_.begin(), known_.end(), [&](const Places& places) {
        return places.from != nullptr && places.depend_on(part);
      });
      if (moves) exchange(part);
    }
    std::vector<std::pair<size_t, Reorderings>> result;
    for (Found& found : found_) {
      std::sort(found.how.begin(), found.how.end(),
                [](const auto& a, const auto& b) { return a.dimensions < b.dimensions; });
      for (const auto& [tensor, how] : result) {
        if (tensor == found.all.tensor && how != found.how) refuse_tensor(tensor);
      }
      result.emplace_back(found.all.tensor, std::move(found.how));
    }
    return result;
  }

 private:
  /// An access of a tensor that is not known, and what was found of it so far.
  struct Found {
    Places all;  // all its dimensions
    Reorderings how;
  };
  const Nest& nest_;
  const Statement& statement_;
  const std::vector<std::string>& names_;
  InstanceParts parts_;
  std::vector<Places> known_;
  std::vector<Found> found_;

  Places all_of(const Access& access) const {
    const Tensor& tensor = nest_.tensors()[access.tensor];
    Places all{access.tensor, {}, {}};
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      all.add(d, counted_dimension(tensor, access, d));
    }
    return all;
  }

  void add(const Access& access, const std::vector<std::optional<Reorderings>>& known) {
    Places all = all_of(access);
    const auto& how = known[access.tensor];
    if (!how) {
      found_.push_back({std::move(all), {}});
      return;
    }
    std::vector<bool> named(all.counted.size(), false);
    for (const Reordering& each : *how) {
      Places together{access.tensor, {}, {}, &each.from};
      for (size_t d : each.dimensions) {
        together.add(d, all.counted[d]);
        named[d] = true;
      }
      known_.push_back(std::move(together));
    }
    for (size_t d = 0; d < named.size(); ++d) {
      if (!named[d]) known_.push_back({access.tensor, {d}, {all.counted[d]}});
    }
  }

  void exchange(const std::vector<size_t>& part) {
    std::vector<const Places*> columns;
    for (const Places& places : known_) {
      if (places.depend_on(part)) columns.push_back(&places);
    }
    std::vector<long> instances = parts_.instances(part);
    if (instances.empty()) fail("'{}' is too large to see which channels meet in it", name());
    require_one_writer(part, instances);
    AccessTable before = table(part, instances, columns), after = before;
    for (size_t i = 0; i < after.places.size(); ++i) {
      after.places[i] = columns[i % columns.size()]->source(after.places[i]);
    }
    std::vector<size_t> partner = partners(before, after, columns);
    for (Found& found : found_) derive(found, part, instances, partner);
  }

  AccessTable table(const std::vector<size_t>& part, const std::vector<long>& instances,
                    const std::vector<const Places*>& columns) const {
    AccessTable result{columns.size(), {}};
    result.places.reserve(instances.size() * columns.size());
    std::vector<long> x(statement_.dims.size(), 0);
    for (long number : instances) {
      parts_.set(part, number, x);
      for (const Places* places : columns) result.places.push_back(places->at(x));
    }
    return result;
  }

  /// Checks that instances may run in any order: those that assign write different elements.
  void require_one_writer(const std::vector<size_t>& part,
                          const std::vector<long>& instances) const {
    if (statement_.update != Update::assign) return;
    Places written = all_of(statement_.write);
    AccessTable places = table(part, instances, {&written});
    std::sort(places.places.begin(), places.places.end());
    bool twice =
        std::adjacent_find(places.places.begin(), places.places.end()) != places.places.end();
    if (twice) fail("'{}' is written several times, once for each channel", name());
  }

  /// Finds for each instance the one that accessed, before, what it accesses now.
  std::vector<size_t> partners(const AccessTable& before, const AccessTable& after,
                               const std::vector<const Places*>& columns) const {
    std::vector<size_t> by_before = before.sorted(), by_after = after.sorted();
    std::vector<size_t> partner(by_before.size());
    for (size_t i = 0; i < partner.size(); ++i) {
      size_t now = by_after[i], then = by_before[i];
      bool same = !after.less(now, before, then) && !before.less(then, after, now);
      if (!same) refuse(before, after, columns);
      partner[now] = then;
    }
    return partner;
  }

  /// Finds where the elements of a tensor go that the instances of a part access.
  void derive(Found& found, const std::vector<size_t>& part, const std::vector<long>& instances,
              const std::vector<size_t>& partner) const {
    Places together{found.all.tensor, {}, {}};
    for (size_t d = 0; d < found.all.counted.size(); ++d) {
      Places alone{found.all.tensor, {d}, {found.all.counted[d]}};
      if (alone.depend_on(part)) together.add(d, found.all.counted[d]);
    }
    if (together.counted.empty()) return;
    AccessTable touched = table(part, instances, {&together});
    std::vector<long> from(static_cast<size_t>(together.size()), unknown);
    for (size_t i = 0; i < partner.size(); ++i) {
      auto to = together.inner(touched.places[i]);
      auto source = together.inner(touched.places[partner[i]]);
      if (!to && !source) continue;
      if (!to || !source) refuse_tensor(together.tensor);
      long& place = from[static_cast<size_t>(*to)];
      if (place != unknown && place != *source) refuse_tensor(together.tensor);
      place = *source;
    }
    complete(from, together.tensor);
    if (!is_identity(from)) found.how.push_back({together.dimensions, std::move(from)});
  }

  static constexpr long unknown = -1;

  /// Leaves elements where they are that nothing touches. What comes of it must be an order.
  void complete(std::vector<long>& from, size_t tensor) const {
    std::vector<bool> used(from.size(), false);
    for (size_t p = 0; p < from.size(); ++p) {
      if (from[p] == unknown) from[p] = static_cast<long>(p);
      if (used[static_cast<size_t>(from[p])]) refuse_tensor(tensor);
      used[static_cast<size_t>(from[p])] = true;
    }
  }

  const std::string& name() const { return names_[statement_.write.tensor]; }

  [[noreturn]] void refuse_tensor(size_t tensor) const {
    fail("'{}' reads '{}' for several channels, which would need it in different orders", name(),
         names_[tensor]);
  }

  /// Says which elements the new order would bring together, and the statement never does.
  [[noreturn]] void refuse(const AccessTable& before, const AccessTable& after,
                           const std::vector<const Places*>& columns) const {
    std::vector<size_t> order = before.sorted();
    std::string what;
    for (size_t i = 0; i < after.rows() && what.empty(); ++i) {
      auto at = std::lower_bound(order.begin(), order.end(), i,
                                 [&](size_t a, size_t b) { return before.less(a, after, b); });
      if (at != order.end() && !after.less(i, before, *at)) continue;
      for (size_t c = columns.size(); c-- > 0;) {
        auto channel = columns[c]->inner(after.row(i)[c]);
        if (!channel || columns[c]->size() == 1) continue;
        what += fmt::format("{}channel {} of '{}'", what.empty() ? "" : " with ", *channel,
                            names_[columns[c]->tensor]);
      }
    }
    fail(
        "'{}' never brings together {}, as this order needs; where groups read channels, these "
        "stay "
        "in their group, or whole groups move, together with the channels that they make",
        name(), what.empty() ? "the same elements as often" : what);
  }
};

}  // namespace

std::vector<Reorderings> completed(const Nest& nest,
                                   const std::vector<std::optional<Reorderings>>& given,
                                   const std::vector<std::string>& names) {
  std::vector<std::optional<Reorderings>> known = given;
  std::vector<size_t> left = sequence(nest.order);
  auto moves = [&](size_t s) {
    const Statement& statement = nest.statements()[s];
    auto does = [&](const Access& a) { return known[a.tensor] && !known[a.tensor]->empty(); };
    return does(statement.write) ||
           std::any_of(statement.reads.begin(), statement.reads.end(), does);
  };
  while (!left.empty()) {
    // What is known to move says how the rest does. So statements that access it come first.
    auto next = std::find_if(left.begin(), left.end(), moves);
    if (next == left.end()) next = left.begin();
    Exchange exchange(nest, nest.statements()[*next], known, names);
    for (auto& [tensor, how] : exchange.run()) known[tensor] = std::move(how);
    left.erase(next);
  }
  std::vector<Reorderings> result;
  for (auto& how : known) result.push_back(how ? std::move(*how) : Reorderings{});
  return result;
}

Array reordered(const Array& array, const Reorderings& how) {
  if (how.empty() || array.count() == 0) return array;
  const Shape& shape = array.shape();
  std::vector<long> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  std::span<const std::byte> old = array.bytes();
  std::vector<std::byte> bytes(old.size());
  long width = static_cast<long>(old.size()) / array.count();
  for (long place = 0; place < array.count(); ++place) {
    long source = place;
    for (const Reordering& each : how) {
      long joint = 0;
      for (size_t d : each.dimensions) joint = joint * shape[d] + place / strides[d] % shape[d];
      long from = each.from[static_cast<size_t>(joint)];
      for (size_t k = each.dimensions.size(); k-- > 0;) {
        size_t d = each.dimensions[k];
        source += (from % shape[d] - joint % shape[d]) * strides[d];
        from /= shape[d];
        joint /= shape[d];
      }
    }
    std::copy_n(old.begin() + source * width, width, bytes.begin() + place * width);
  }
  return Array::of_bytes(array.element(), shape, bytes);
}

}  // namespace lathe
