// Compilers: what they make depends on nothing but the kernels.
#include "backends/backend.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/named_kernels.h"

namespace lathe::test {
namespace {

const std::vector<std::string>& ops() {
  static const std::vector<std::string> all = {"conv(co=32, ci=16, oh=5, ow=7, k=3)",
                                               "matmul(i=4, j=5, k=6)", "relu(c=16, h=5, w=4)"};
  return all;
}

TEST(LlvmCompiler, IsUsedAgain) {
  for (const Target& target : targets()) {
    std::unique_ptr<Compiler> used = make_compiler(target);
    for (const std::string& op : ops()) {
      std::vector<NamedCode> kernels = kernels_of(op, target);
      used->text("asm", kernels);
      EXPECT_EQ(used->object(kernels), make_compiler(target)->object(kernels)) << op;
      EXPECT_EQ(used->text("asm", kernels), make_compiler(target)->text("asm", kernels)) << op;
    }
  }
}

TEST(LlvmCompiler, LoopsMayHaveNothingToDo) {
  Code code;
  code.body.push_back({Instruction::Kind::loop});
  code.body.back().end = 3;
  for (const Target& target : targets()) {
    EXPECT_FALSE(make_compiler(target)->object({{"idle", code}}).empty());
  }
}

TEST(LlvmCompiler, SeveralWorkAtATime) {
  auto objects = [](std::vector<std::string>& made) {
    Target target = native_target();
    std::unique_ptr<Compiler> compiler = make_compiler(target);
    for (const std::string& op : ops()) made.push_back(compiler->object(kernels_of(op, target)));
  };
  std::vector<std::string> alone, first, second;
  objects(alone);
  std::thread other(objects, std::ref(first));
  objects(second);
  other.join();
  EXPECT_EQ(first, alone);
  EXPECT_EQ(second, alone);
}

}  // namespace
}  // namespace lathe::test
