// The registry of backends, and devices: every target has one backend, and what is loaded runs.
#include "backends/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/named_kernels.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(Backend, EveryTargetHasOne) {
  for (const Target& target : targets()) {
    size_t found = 0;
    for (const Backend& backend : backends::all()) {
      const auto& known = backend.architectures;
      found += std::find(known.begin(), known.end(), target.architecture) != known.end() ? 1 : 0;
    }
    EXPECT_EQ(found, 1U) << target.name;
    EXPECT_FALSE(backend_for(target).version.empty());
  }
}

TEST(Backend, ThisMachineIsAmongThoseThatRunCode) {
  Target here = native_target();
  std::vector<Target> able = backend_for(here).here();
  EXPECT_TRUE(std::any_of(able.begin(), able.end(), [&](const Target& target) {
    return full_name(target) == full_name(here);
  }));
}

TEST(Backend, FormsHaveNamesOfTheirOwn) {
  std::vector<std::string> forms = text_forms();
  std::set<std::string> names(forms.begin(), forms.end());
  EXPECT_EQ(names.size(), forms.size());
  for (const char* taken : {"graph", "nest", "recipe", "loops", "code"}) {
    EXPECT_FALSE(names.contains(taken)) << "a stage of the compiler is called so";
  }
}

TEST(Backend, ShowsCodeInItsForms) {
  Target target = target_named("aarch64");
  std::vector<NamedCode> kernels = kernels_of("relu(c=16, h=5, w=4)", target);
  for (const TextForm& form : backend_for(target).forms) {
    EXPECT_NE(print_kernels(target, form.name, kernels).find("kernel_0"), std::string::npos);
  }
  expect_failure([&] { print_kernels(target, "ptx", kernels); },
                 {"code for aarch64 has no form 'ptx'", "llvm, asm"});
}

TEST(Backend, KernelsMayUseTheExtrasThatTheyNeed) {
  for (const char* name : {"aarch64+f16+dot+i8mm+bf16", "x86-64-v4+f16+dot+bf16",
                           "x86-64-v4+bf16+bf16mm", "x86-64-v4+f16+bf16+f16mm"}) {
    Target target = target_named(name);
    std::vector<NamedCode> kernels = kernels_of("relu(c=16, h=5, w=4)", target);
    std::string plain = print_kernels(target, "llvm", kernels);
    for (NamedCode& kernel : kernels) kernel.code.needs = target.cpu.extras;
    std::string with = print_kernels(target, "llvm", kernels);
    const char* feature = target.architecture == Architecture::aarch64 ? "+bf16" : "+avx512bf16";
    EXPECT_EQ(plain.find(feature), std::string::npos);
    EXPECT_NE(with.find(feature), std::string::npos);
    EXPECT_FALSE(make_compiler(target)->object(kernels).empty());
  }
}

TEST(Device, RunsAKernelInItsMemory) {
  Target target = native_target();
  std::vector<NamedCode> kernels = kernels_of("relu(c=4, h=2, w=2)", target);
  ASSERT_EQ(kernels.size(), 1U);
  std::unique_ptr<Device> device = make_device(target);
  device->load(make_compiler(target)->object(kernels));

  std::vector<float> x(16), y(16);
  std::iota(x.begin(), x.end(), -8.0F);
  constexpr long shift = 64;  // in bytes: tensors may begin anywhere
  auto bytes = static_cast<long>(x.size() * sizeof(float));
  std::unique_ptr<Memory> in = device->allocate(bytes + shift), out = device->allocate(bytes);
  in->write(shift, std::as_bytes(std::span(x)));

  Launch launch{device->find("kernel_0")};
  for (size_t t : arguments_of(kernels[0].code)) {
    bool written = kernels[0].code.tensors[t].role == Role::output;
    launch.tensors.push_back({written ? out.get() : in.get(), written ? 0 : shift});
  }
  launch.count = kernels[0].code.count();
  launch.scratch_bytes = kernels[0].code.scratch_bytes;
  device->launch(launch);
  out->read(0, std::as_writable_bytes(std::span(y)));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], std::max(x[i], 0.0F));
  EXPECT_EQ(std::memcmp(out->look(), y.data(), static_cast<size_t>(bytes)), 0);
  EXPECT_GE(device->time(launch), 0);
}

TEST(Device, MemoryBeginsWithZeros) {
  std::unique_ptr<Memory> memory = make_device(native_target())->allocate(1000);
  EXPECT_TRUE(std::all_of(memory->look(), memory->look() + 1000,
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Device, UnknownKernelsAreErrors) {
  EXPECT_THROW(make_device(native_target())->find("nowhere"), UserError);
}

}  // namespace
}  // namespace lathe::test
