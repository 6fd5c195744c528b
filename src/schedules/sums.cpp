// sums.cpp: few sums, each of many terms, on a GPU: a row of threads shares each.
//
//   block.x o.o, thread.y o.i:
//     thread.x k.i:  for k.o:  P[k.i] += W[o, k] * I[k]      threads side by side read side by side
//     O[o] += P[k.i] of all threads
//
// A linear layer for one sample is of this kind, and a mean over positions.
#include <algorithm>

#include "schedules/schedule_grid.h"

namespace lathe::schedules {
namespace {

/// With more results there is a thread for each, and with fewer terms nothing to share.
constexpr long most_results = 8192, least_terms = 64;

/// Threads that share a sum, and sums of a block.
const std::vector<long> sharer_counts = {32, 64, 128}, sum_counts = {1, 2, 4, 8};
constexpr long usual_sharers = 64, usual_sums = 2, least_sharers = 8;

/// Terms of a thread that are written out.
constexpr long most_terms_written = 32;

std::optional<Written> write_sums(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  Roles roles = roles_of(s, main);
  if (statement.update != Update::add || factor_loops(statement, roles)) return std::nullopt;
  std::vector<std::string> results, summed;
  const LoopRole* longest = nullptr;
  for (const LoopRole& loop : roles.loops) {
    (loop.write.moves ? results : summed).push_back(loop.name);
    bool longer = !loop.write.moves && (longest == nullptr || loop.extent > longest->extent);
    if (longer) longest = &loop;
  }
  if (results.empty() || longest == nullptr) return std::nullopt;
  long count = product_of_extents(roles, results);
  if (count > most_results || product_of_extents(roles, summed) < least_terms) return std::nullopt;
  long sharers =
      greatest_divisor(longest->extent, choices.choose("sharers", usual_sharers, sharer_counts));
  long sums = greatest_divisor(count, choices.choose("sums", usual_sums, sum_counts));
  if (sharers < least_sharers || sharers * sums > s.target.gpu.most_threads) return std::nullopt;

  RecipeWriter writer(s.nest);
  loops_alike(writer, main);
  writer.reorder(joined({results, summed}));
  std::string result = fused_into_one(writer, results), shared = longest->name;
  std::vector<std::string> blocks{result}, inner;
  if (sums > 1 && sums < count) {
    writer.step("split", {result, sums});
    blocks = {result + ".o"};
    inner = {result + ".i"};
  }
  if (sharers < longest->extent) {
    writer.step("split", {shared, sharers});
    std::replace(summed.begin(), summed.end(), shared, shared + ".o");
    shared += ".i";
  } else {
    std::erase(summed, shared);
  }
  writer.reorder(joined({blocks, inner, {shared}, summed}));
  writer.merge(joined({blocks, inner}));
  bind_blocks(writer, "", blocks);
  std::string name = writer.nest().statements()[main].name;
  share_sum(writer, main, shared);
  for (const std::string& loop : inner) writer.step("bind", {loop, "thread.y"});
  writer.step("bind", {shared, "thread.x"});
  bool short_sum = product_of_extents(roles, {longest->name}) / sharers <= most_terms_written;
  bool is_split = shared != longest->name;
  if (short_sum && is_split) writer.step("unroll", {name + ":" + longest->name + ".o"});
  return writer.written();
}

}  // namespace

Schedule sums() {
  return {"sums",
          "few sums of many terms, each shared by threads of a GPU",
          Schedule::For::kind,
          write_sums,
          nullptr,
          Schedule::Machines::gpus};
}

}  // namespace lathe::schedules
