// Targets: names, extras, and what is wrong with a name.
#include "codegen/target.h"

#include <gtest/gtest.h>

#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Those that AArch64 has.
const std::set<Extra> all_extras = {Extra::f16, Extra::i8_dot, Extra::i8_matrix, Extra::bf16_dot};

TEST(Target, NamesTellTheExtras) {
  Target plain = target_named("aarch64");
  EXPECT_EQ(plain.cpu.extras, std::set<Extra>{});
  EXPECT_EQ(full_name(plain), "aarch64");

  Target all = target_named("aarch64+f16+dot+i8mm+bf16");
  EXPECT_EQ(all.name, "aarch64");
  EXPECT_EQ(all.cpu.extras, all_extras);
  for (Extra extra : all_extras) EXPECT_TRUE(all.has(extra)) << name_of(extra);
  EXPECT_EQ(full_name(all), "aarch64+f16+dot+i8mm+bf16");
  EXPECT_EQ(full_name(all, {Extra::i8_dot}), "aarch64+dot");
}

TEST(Target, ExtrasAreNamedInAnyOrder) {
  EXPECT_EQ(full_name(target_named("x86-64-v4+bf16+dot+f16+dot")), "x86-64-v4+f16+dot+bf16");
}

TEST(Target, FullNamesLeadBack) {
  for (const Target& target : targets()) {
    Target most = target;
    most.cpu.extras = possible_extras(target);
    Target again = target_named(full_name(most));
    EXPECT_EQ(again.name, target.name);
    EXPECT_EQ(again.cpu.extras, most.cpu.extras);
    EXPECT_EQ(again.architecture, target.architecture);
  }
}

TEST(Target, NativeHasItsPlainNameAndItsExtras) {
  Target here = native_target();
  EXPECT_EQ(here.name.find('+'), std::string::npos);
  for (Extra extra : here.cpu.extras) EXPECT_TRUE(possible_extras(here).contains(extra));
  EXPECT_EQ(full_name(target_named("native")), full_name(here));
}

TEST(Target, UnknownNamesListThoseThatExist) {
  expect_failure([] { target_named("riscv64"); },
                 {"unknown target 'riscv64'", "native, aarch64, x86-64-v3, x86-64-v4"});
  expect_failure([] { target_named("aarch64+mmx"); },
                 {"the target aarch64 has no extra 'mmx'", "f16, dot, i8mm, bf16"});
  expect_failure([] { target_named("aarch64+"); }, {"has no extra ''"});
  expect_failure([] { target_named("x86-64-v4+mmx"); }, {"the target x86-64-v4 has no extra 'mmx'",
                                                         "f16, dot, i8mm, bf16, bf16mm, f16mm"});
  expect_failure([] { target_named("aarch64+bf16mm"); }, {"aarch64 has no extra 'bf16mm'"});
  expect_failure([] { target_named("x86-64-v3+f16"); }, {"the target x86-64-v3 has no extras"});
}

}  // namespace
}  // namespace lathe::test
