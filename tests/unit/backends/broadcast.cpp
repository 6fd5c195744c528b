// Factors that instructions of x86-64 broadcast themselves: those of f16, where few vectors share
// one.
#include <gtest/gtest.h>

#include "support/named_kernels.h"

namespace lathe::test {
namespace {

long count(const std::string& text, const std::string& what) {
  long n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Returns the assembly of a layer of so many filters, in blocks of as many channels.
std::string assembly(const std::string& element, long filters, const char* target_name) {
  Target target = target_named(target_name);
  Context ctx;
  Nest nest = parse_op(ctx, fmt::format("conv({0}[1x64x14x14], weight {0}[{1}x64x1x1]{2})", element,
                                        filters, element == "f32" ? "" : ", to=\"f32\""));
  std::vector<NamedCode> kernels;
  for (Code& code : lower_node(nest, blocked_layouts(nest, filters), target).kernels) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  return print_kernels(target, "asm", kernels);
}

TEST(Broadcasts, AreShared) {
  // A tile of 64 filters has two vectors of f16: of three factors, two are broadcast by products.
  std::string text = assembly("f16", 64, "x86-64-v4+f16");
  long own = count(text, "{1to32}"), before = count(text, "vpbroadcastw");
  EXPECT_GT(before, 0);
  EXPECT_NEAR(static_cast<double>(own), 4.0 * static_cast<double>(before), 4.0) << text;
}

TEST(Broadcasts, AreThoseOfF16Alone) {
  EXPECT_EQ(count(assembly("f32", 64, "x86-64-v4+f16"), "1to"), 0);
  EXPECT_EQ(count(assembly("f16", 64, "x86-64-v4"), "{1to32}"), 0) << "no arithmetic for f16";
}

}  // namespace
}  // namespace lathe::test
