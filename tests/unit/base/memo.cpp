// Results that are kept.
#include "base/memo.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace lathe {
namespace {

TEST(Memo, MakesEachResultOnce) {
  Memo<int> memo;
  int made = 0;
  auto make = [&] { return ++made; };
  EXPECT_EQ(*memo.of("a", make), 1);
  EXPECT_EQ(*memo.of("b", make), 2);
  EXPECT_EQ(*memo.of("a", make), 1);
}

TEST(Memo, KeepsNoFailure) {
  Memo<int> memo;
  EXPECT_THROW(memo.of("a", []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(*memo.of("a", [] { return 7; }), 7);
}

TEST(Memo, ForgetsButWhatIsHeldStays) {
  Memo<size_t> memo;
  auto first = memo.of("0", [] { return size_t{0}; });
  for (size_t i = 1; i < 40000; ++i) memo.of(std::to_string(i), [&] { return i; });
  EXPECT_EQ(*first, 0U);
  EXPECT_EQ(*memo.of("0", [] { return size_t{1}; }), 1U);
}

TEST(Memo, ServesSeveralThreads) {
  Memo<size_t> memo;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < 2000; ++i) {
        EXPECT_EQ(*memo.of(std::to_string(i % 100), [&] { return i % 100; }), i % 100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lathe
