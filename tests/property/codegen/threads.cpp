// Threads in any order compute what the interpreter does: as the steps left the nest, and with the
// storage that code has. Without barriers some order goes wrong.
#include <gtest/gtest.h>

#include "codegen/contract.h"
#include "nest/interleave.h"
#include "nest/starts.h"
#include "nest/threads.h"
#include "support/brute_force.h"
#include "support/layouts.h"
#include "support/random_threads.h"

namespace lathe::test {
namespace {

Outputs interleaved(const Nest& threads, const std::vector<Barrier>& barriers, unsigned seed) {
  Buffers<long> buffers = make_buffers<long>(threads);
  fill_inputs(threads, buffers, 1);
  interleave(threads, barriers, buffers, seed);
  Outputs result;
  for (size_t t = 0; t < threads.tensors().size(); ++t) {
    if (threads.tensors()[t].role == Role::output) result[threads.tensors()[t].name] = buffers[t];
  }
  return result;
}

/// Returns the nest with the storage that code for a GPU has.
Nest stored(const Nest& nest) {
  std::vector<Space> spaces = settled_spaces(in_threads(nest));
  std::vector<Tensor> tensors = nest.tensors();
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Role::local) tensors[t].space = spaces[t];
  }
  Nest placed{nest.name, std::make_shared<Meaning>(tensors, nest.statements(), nest.order),
              nest.order};
  return in_threads(contracted(placed, row_major_layouts(placed)).nest);
}

TEST(Threads, InAnyOrderComputeTheSame) {
  int raced = 0, with_barriers = 0, bound = 0;
  for_each_case(3000, [&](Case& trial) {
    Context ctx;
    std::string text = random_nest(trial.random);
    Outputs wanted = outputs(with_starts(load(ctx, text)));
    Nest nest = with_starts(random_threads(trial, ctx, text));
    if (find_axis(nest) != nullptr) ++bound;
    if (judge_order(nest).violation) return;  // of a start that no loop binds
    Nest small = in_threads(nest);
    try {
      small = stored(nest);
    } catch (const UserError& error) {
      trial.story += error.what();
      return;
    }
    Nest whole = in_threads(nest);
    Synchronised found = synchronised(whole, Copies::one);
    ASSERT_FALSE(found.violation.has_value());
    EXPECT_EQ(interleaved(whole, found.barriers, 1), wanted) << print(whole);
    Synchronised again = synchronised(small, Copies::own);
    ASSERT_FALSE(again.violation.has_value())
        << explain(*again.violation, small) << print(nest) << print(small);
    for (unsigned seed = 0; seed < 3; ++seed) {
      EXPECT_EQ(interleaved(small, again.barriers, seed), wanted) << print(small);
    }
    if (again.barriers.empty()) return;
    ++with_barriers;
    for (unsigned seed = 0; seed < 3; ++seed) {
      if (interleaved(small, {}, seed) == wanted) continue;
      ++raced;
      break;
    }
  });
  std::cout << bound << " nests are bound, " << with_barriers << " need barriers, " << raced
            << " go wrong without\n";
}

}  // namespace
}  // namespace lathe::test
