// instances.cpp: instances of a statement, part by part. Interface: instances.h.
#include "program/instances.h"

#include <algorithm>
#include <numeric>

#include "poly/isl.h"

namespace lathe {

InstanceParts::InstanceParts(const Statement& statement)
    : extents_(extents(plain_order(statement, {}))),
      pieces_(poly::constraints(statement.domain)),
      part_of_(extents_.size()) {
  std::iota(part_of_.begin(), part_of_.end(), size_t{0});
  for (const auto& piece : pieces_) {
    for (const poly::Constraint& each : piece) join(poly::involved(each.expression));
  }
  // A domain of several pieces is no product of what its coordinates may be.
  if (pieces_.size() > 1) join(std::vector<bool>(extents_.size(), true));
}

void InstanceParts::join(const std::vector<bool>& coordinates) {
  size_t first = part_of_.size();
  for (size_t c = 0; c < part_of_.size(); ++c) {
    if (!coordinates[c]) continue;
    if (first == part_of_.size()) first = c;
    size_t old = part_of_[c], joined = part_of_[first];
    std::replace(part_of_.begin(), part_of_.end(), old, joined);
  }
}

std::vector<std::vector<size_t>> InstanceParts::all() const {
  std::vector<std::vector<size_t>> result;
  for (size_t p = 0; p < part_of_.size(); ++p) {
    std::vector<size_t> members;
    for (size_t c = 0; c < part_of_.size(); ++c) {
      if (part_of_[c] == p) members.push_back(c);
    }
    if (!members.empty()) result.push_back(std::move(members));
  }
  return result;
}

std::vector<long> InstanceParts::instances(const std::vector<size_t>& part) const {
  constexpr long most = 1L << 24;
  long count = 1;
  for (size_t c : part) {
    count *= extents_[c];
    if (count > most) return {};
  }
  auto pieces = pieces_;
  for (auto& piece : pieces) {
    std::erase_if(piece, [&](const poly::Constraint& each) {
      std::vector<bool> involved = poly::involved(each.expression);
      return std::none_of(part.begin(), part.end(), [&](size_t c) { return involved[c]; });
    });
  }
  std::vector<long> result, x(extents_.size(), 0);
  for (long k = 0; k < count; ++k) {
    set(part, k, x);
    if (poly::contains(pieces, x)) result.push_back(k);
  }
  return result;
}

void InstanceParts::set(const std::vector<size_t>& part, long number,
                        std::vector<long>& coordinates) const {
  for (size_t c : part) {
    coordinates[c] = number % extents_[c];
    number /= extents_[c];
  }
}

}  // namespace lathe
