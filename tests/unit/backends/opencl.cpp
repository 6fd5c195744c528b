// OpenCL: what is printed, what is refused, and memory and kernels of a device.
#include <gtest/gtest.h>

#include <cstring>

#include "compile/compile.h"
#include "models/model.h"
#include "support/named_kernels.h"
#include "support/on_device.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

std::string source_of(const std::string& nest, const std::string& recipe) {
  return printed_kernels(nest, recipe, target_named("opencl"), "source");
}

TEST(OpenClSource, HasBlocksThreadsSpacesAndBarriers) {
  std::string text = source_of("matmul(i=8, j=32, k=16)",
                               "interchange(j, k) -> split(k, 4) -> bind(i, block.x) -> "
                               "bind(j, thread.x) -> pack(A, k.o, shared)");
  for (const char* part :
       {"reqd_work_group_size(32, 1, 1)", "get_group_id(0)", "get_local_id(0)",
        "__local float t3[4] __attribute__((aligned(16)));", "barrier(CLK_LOCAL_MEM_FENCE"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(OpenClSource, VectorsAreLoadedWhole) {
  std::string text = source_of("add(c=8, h=4, w=16)", "bind(c, block.x) -> vectorize(w)");
  EXPECT_NE(text.find("vload16(0, "), std::string::npos) << text;
  EXPECT_NE(text.find("vstore16("), std::string::npos) << text;
}

TEST(OpenClSource, FourNeighboursAreOneAccess) {
  std::string text = source_of("matmul(i=8, j=32, k=16)",
                               "split(j, 4) -> reorder(i, j.o, k, j.i) -> bind(i, block.x) -> "
                               "bind(j.o, thread.x) -> unroll(j.i) -> pack(B, j.o, shared)");
  for (const char* part : {"const float4 q = *(__local float4*)(", " = q.s3;"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

/// There blocks share parallel loops, a thread has vectors, and sums stay in its registers.
TEST(OpenClSource, OfCpusHasVectorsAndBlocksOfOneThread) {
  Graph graph = initialised(load_model("resnet20-cifar"), 1);
  Target target = target_named("opencl:vectors=64");
  Compiled compiled = compile(graph, {.target = target, .max_error = 0});
  std::string text;
  for (const std::string& object : compiled.objects) text += object;
  for (const char* part :
       {"reqd_work_group_size(1, 1, 1)", "get_group_id(0)", "= LATHE_FMA(v", "= vload16(0, t"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  for (const char* part : {"__private", "__local", "barrier("}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
}

TEST(OpenClSource, TilesFitIntoTheMemoryOfABlock) {
  // Lowering refuses a kernel that needs more.
  Graph graph = initialised(load_model("resnet20-cifar"), 1);
  for (long multiprocessors : {2, 16, 132}) {
    Target target = target_named("opencl");
    target.gpu.multiprocessors = multiprocessors;
    EXPECT_FALSE(compile(graph, {.target = target}).steps.empty());
  }
}

TEST(OpenClDevice, TellsWhatIsMissing) {
  expect_failure([] { target_named("opencl:x"); }, {"unknown target 'opencl:x'"});
  EXPECT_EQ(target_named("opencl:2").gpu.device, 2);
  EXPECT_EQ(target_named("opencl:units=40").gpu.multiprocessors, 40);
  Target cpu = target_named("opencl:vectors=32");
  EXPECT_EQ(cpu.cpu.vector_bytes, 32);
  EXPECT_EQ(cpu.cpu.registers, 16);
  EXPECT_TRUE(cpu.is_gpu());
  EXPECT_FALSE(cpu.has_warps());
  expect_failure([] { target_named("opencl:vectors=8"); }, {"unknown target 'opencl:vectors=8'"});
  expect_failure([] { target_named("opencl:units=0"); }, {"unknown target 'opencl:units=0'"});
  expect_failure([] { machine_named("opencl:units=4000"); }, {"no machine for the target"});
  LATHE_NEEDS_OPENCL(target);
  expect_failure([] { machine_named("opencl:99"); }, {"no machine for the target 'opencl:99'"});
  expect_failure([] { make_device(target_named("opencl:99")); }, {"there is no 'opencl:99'"});
  std::unique_ptr<Device> device = make_device(*target);
  device->load("__kernel void broken() { int x = nothing; }\n");
  expect_failure([&] { device->find("broken"); }, {"a kernel was not built"});
  expect_failure([&] { device->allocate(1L << 50); }, {"allocating 1125899906842624 bytes"});
}

TEST(OpenClDevice, MemoryBeginsWithZerosAndIsCopied) {
  LATHE_NEEDS_OPENCL(target);
  std::unique_ptr<Device> device = make_device(*target);
  std::unique_ptr<Memory> memory = device->allocate(10);
  EXPECT_EQ(static_cast<int>(memory->look()[9]), 0);
  std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  memory->write(4, bytes);
  std::vector<std::byte> back(3);
  memory->read(4, back);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(static_cast<int>(memory->look()[6]), 3);
}

}  // namespace
}  // namespace lathe::test
