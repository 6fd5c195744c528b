// Counts what the code of many cases has: random cases that lack something would not test it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/code.h"
#include "codegen/loops.h"

namespace lathe::test {

/// What the code of a case has.
struct Features {
  long guards = 0, ranges = 0, parts = 0, vectors = 0, tiles = 0, floors = 0, products = 0;
  long lanes = 0, prefetches = 0, scratch = 0, parallel = 0, strided = 0, shared_locals = 0;

  /// Counts what is in some kernel of the case.
  void add(const std::vector<Code>& kernels, const LoopTree& tree) {
    Features found;
    for (const Code& code : kernels) {
      found.parallel += code.parallel.empty() ? 0 : 1;
      found.scratch += code.scratch_bytes > 0 ? 1 : 0;
      std::set<size_t> set;
      found.look(code, code.body, set);
      for (size_t t : arguments_of(code))
        found.shared_locals += code.tensors[t].role == Role::local;
    }
    for (const auto& place : tree.places) found.look(place);
    auto once = [](long& sum, long n) { sum += n > 0 ? 1 : 0; };
    once(guards, found.guards);
    once(ranges, found.ranges);
    once(parts, found.parts);
    once(vectors, found.vectors);
    once(tiles, found.tiles);
    once(floors, found.floors);
    once(products, found.products);
    once(lanes, found.lanes);
    once(prefetches, found.prefetches);
    once(scratch, found.scratch);
    once(parallel, found.parallel);
    once(strided, found.strided);
    once(shared_locals, found.shared_locals);
  }

  std::string print() const {
    return fmt::format(
        "guards {}, ranges {}, parts {}, vectors {}, tiles {}, floors {}, products {}, lanes {}, "
        "prefetches {}, scratch {}, parallel {}, strided {}, shared locals {}",
        guards, ranges, parts, vectors, tiles, floors, products, lanes, prefetches, scratch,
        parallel, strided, shared_locals);
  }

 private:
  void look(const std::vector<LoopNode>& nodes) {
    for (const LoopNode& node : nodes) {
      ranges += node.kind == LoopNode::Kind::range ? 1 : 0;
      parts += node.kind == LoopNode::Kind::loop && node.from > 0 ? 1 : 0;
      look(node.body);
    }
  }

  /// "set": variables that have a value before the loop around.
  void look(const Code& code, const Block& block, std::set<size_t> set) {
    using Kind = Instruction::Kind;
    std::set<size_t> before = set;
    for (const Instruction& i : block) {
      guards += i.kind == Kind::guard ? 1 : 0;
      products += i.kind == Kind::fma ? 1 : 0;
      lanes += i.kind == Kind::splat || i.kind == Kind::sum || i.kind == Kind::maximum ? 1 : 0;
      prefetches += i.kind == Kind::prefetch ? 1 : 0;
      bool memory = i.kind == Kind::load || i.kind == Kind::store;
      floors += memory && !i.offset.is_linear() ? 1 : 0;
      bool sets = !i.body.empty() || memory ? i.kind == Kind::load : i.kind != Kind::prefetch;
      if (sets) {
        vectors += code.variables[i.to].lanes > 1 ? 1 : 0;
        strided += i.kind == Kind::load && code.variables[i.to].lanes > 1 && i.stride != 1 ? 1 : 0;
        tiles += i.kind == Kind::copy && before.contains(i.to) ? 1 : 0;
        set.insert(i.to);
      }
      if (i.kind == Kind::loop) look(code, i.body, set);
      if (i.kind == Kind::guard) look(code, i.body, before);
    }
  }
};

}  // namespace lathe::test
