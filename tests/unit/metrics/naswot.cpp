// NASWOT against its definition.
#include "base/error.h"
#include "base/matrix.h"
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Naswot, EqualsItsDefinition) {
  TinyNetwork plain;
  TinyBatch data(4);
  plain.logits(data.images);
  Matrix kernel(4, 4);
  for (const Map& map : plain.rectified) {
    size_t count = map.values.size() / 4;
    for (size_t n = 0; n < 4; ++n) {
      for (size_t m = 0; m < 4; ++m) {
        for (size_t i = 0; i < count; ++i) {
          bool alike = (map.values[n * count + i] > 0) == (map.values[m * count + i] > 0);
          kernel(n, m) += alike ? 1 : 0;
        }
      }
    }
  }
  EXPECT_NEAR(scored("naswot", plain, data).total, log_abs_determinant(kernel), 1e-5);
}

TEST(Naswot, CountsRectifiersOfOneValueEachForItself) {
  Batch batch{Array::of<float>({2, 3}, {1, -1, 2, -1, -1, 3}), {0, 1}};
  auto network = [](int rectifiers) {
    GraphBuilder g("net");
    ValueId x = g.input("x", {Element::f32, {2, 3}}), y = x;
    for (int i = 0; i < rectifiers; ++i) {
      ValueId r = g.call("relu", {x});
      y = i == 0 ? r : g.call("add", {y, r});
    }
    g.output(y);
    return g.build();
  };
  // Three rectifiers, of which the first tells the images apart.
  double one = std::log(3. * 3 - 2 * 2);
  EXPECT_NEAR(scored("naswot", network(1), batch).total, one, 1e-5);
  EXPECT_NEAR(scored("naswot", network(2), batch).total, one + 2 * std::log(2), 1e-5);
}

TEST(Naswot, NeedsRectifiers) {
  GraphBuilder g("net");
  g.output(g.call("tanh", {g.input("x", {Element::f32, {2, 3}})}));
  Batch batch{Array(Element::f32, {2, 3}), {0, 1}};
  EXPECT_THROW(scored("naswot", g.build(), batch), UserError);
}

}  // namespace
}  // namespace lathe::test
