// Products, counted by hand.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Macs, CountsProductsForOneImage) {
  for (long samples : {1, 4}) {
    Score score = scored("macs", TinyNetwork(), TinyBatch(samples));
    expect_layers(score, {54 * 36, 108 * 9, 12}, 0);
  }
}

}  // namespace
}  // namespace lathe::test
