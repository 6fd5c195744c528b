// Names that are like others.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace lathe::test {
namespace {

TEST(Nearest, CountsInsertedRemovedAndReplacedLetters) {
  EXPECT_EQ(edit_distance("conv", "conv"), 0u);
  EXPECT_EQ(edit_distance("conv", "con"), 1u);
  EXPECT_EQ(edit_distance("conv", "kconvs"), 2u);
  EXPECT_EQ(edit_distance("conv", "cony"), 1u);
  EXPECT_EQ(edit_distance("", "conv"), 4u);
}

TEST(Nearest, ReturnsTheFirstOfTheNearest) {
  EXPECT_EQ(nearest("layr1.conv2", {"layer1.conv1", "layer1.conv2", "fc"}), "layer1.conv2");
  EXPECT_EQ(nearest("b", {"a", "c"}), "a");
  EXPECT_EQ(nearest("a", {}), "");
}

}  // namespace
}  // namespace lathe::test
