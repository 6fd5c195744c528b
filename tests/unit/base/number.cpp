// Numbers in texts.
#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lathe::test {
namespace {

TEST(Number, IsTheWholeText) {
  EXPECT_EQ(number_in<long>("12"), 12);
  EXPECT_EQ(number_in<long>("-3"), -3);
  EXPECT_EQ(number_in<double>("0.5"), 0.5);
  EXPECT_EQ(number_in<double>("1e3"), 1000);
  for (const char* text : {"", " 12", "12 ", "12k", "1.5", "+1", "twelve"}) {
    EXPECT_EQ(number_in<long>(text), std::nullopt) << text;
  }
}

TEST(Number, FitsItsType) {
  EXPECT_EQ(number_in<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(number_in<uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(number_in<uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(number_in<int>("2147483648"), std::nullopt);
}

TEST(Number, ReadsPartsOfATextThatHasNoEnd) {
  std::string_view text = "12,34";
  EXPECT_EQ(number_in<int>(text.substr(0, 2)), 12);
  EXPECT_EQ(number_in<int>(text), std::nullopt);
}

}  // namespace
}  // namespace lathe::test
