// sources.cpp: what local tensors are made of. Interface: sources.h.
#include "nest/sources.h"

#include <algorithm>

namespace lathe {

std::set<size_t> with_sources(const Nest& nest, std::set<size_t> tensors) {
  for (bool grown = true; grown;) {
    size_t before = tensors.size();
    for (const Statement& s : nest.statements()) {
      if (!tensors.contains(s.write.tensor)) continue;
      for (const Access& read : s.reads) {
        if (nest.tensors()[read.tensor].role == Role::local) tensors.insert(read.tensor);
      }
    }
    grown = tensors.size() > before;
  }
  return tensors;
}

bool is_of_weights(const Nest& nest, size_t tensor) {
  Role role = nest.tensors()[tensor].role;
  if (role != Role::local) return role == Role::weight || role == Role::constant;
  std::set<size_t> made = with_sources(nest, {tensor});
  return std::all_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    return !made.contains(s.write.tensor) ||
           std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
             Role from = nest.tensors()[read.tensor].role;
             return from == Role::weight || from == Role::constant || from == Role::local;
           });
  });
}

}  // namespace lathe
