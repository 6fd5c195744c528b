// Libraries: written more than once in a process, by several threads, and run in it.
#include "compile/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "compile/manifest.h"
#include "data/file.h"
#include "runtime/measure.h"
#include "support/on_device.h"
#include "support/temporary.h"

namespace lathe {
namespace {

using test::content_of;
using test::expect_failure;
using test::TemporaryDirectory;

Graph small_graph(const std::string& name) {
  return initialised(parse_graph("graph " + name +
                                 "\n"
                                 "input x: f32[1x3x8x8]\n"
                                 "weight w: f32[5x3x3x3] = normal(0.3)\n"
                                 "c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x5x8x8]\n"
                                 "y = relu(c): f32[1x5x8x8]\n"
                                 "output y\n"),
                     1);
}

Array ramp(const Shape& shape) {
  std::vector<double> values(static_cast<size_t>(count_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 17) - 8;
  return Array::of_reals(Element::f32, shape, values);
}

TEST(Library, NamesAreIdentifiers) {
  EXPECT_EQ(identifier_of("resnet18-cifar"), "resnet18_cifar");
  EXPECT_EQ(identifier_of("nasbench201:6111"), "nasbench201_6111");
  EXPECT_EQ(identifier_of("3d"), "net_3d");
  EXPECT_EQ(identifier_of(""), "net_");
  EXPECT_EQ(identifier_of("lathe_model"), "net_lathe_model");
  EXPECT_EQ(identifier_of(identifier_of("__x\xff")), identifier_of("__x\xff"));
}

TEST(Library, RunsAsTheRunnerDoes) {
  TemporaryDirectory folder;
  Compiled compiled = compile(small_graph("small"), {.target = native_target()});
  write_library(compiled, folder.file("out"));
  Array x = ramp({1, 3, 8, 8});
  std::vector<Array> expected = Runner(compiled, 1).run({x});
  for (int threads : {1, 3}) {
    LoadedLibrary library(folder.file("out"), threads);
    ASSERT_EQ(library.inputs().size(), 1U);
    EXPECT_EQ(library.inputs()[0].name, "x");
    EXPECT_EQ(print_type(library.outputs()[0].type), "f32[1x5x8x8]");
    EXPECT_EQ(library.run({x}), expected);
    EXPECT_EQ(library.run({x}), expected);
    expect_failure(
        [&] {
          library.run({ramp({1, 3, 8, 9})});
        },
        {"input 'x' is f32[1x3x8x8]", "f32[1x3x8x9]"});
    expect_failure([&] { library.run({}); }, {"1 inputs", "0 were given"});
  }
  expect_failure([&] { LoadedLibrary(folder.file("out"), -1); }, {"-1 threads"});
}

TEST(Library, SeveralAtATime) {
  TemporaryDirectory folder;
  std::vector<std::thread> threads;
  for (std::string name : {"a", "b", "c"}) {
    threads.emplace_back([&folder, name] {
      write_library(compile(small_graph(name), {.target = native_target()}), folder.file(name));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Array x = ramp({1, 3, 8, 8});
  LoadedLibrary a(folder.file("a"), 1), b(folder.file("b"), 2), c(folder.file("c"), 1);
  EXPECT_EQ(a.run({x}), b.run({x}));
  EXPECT_EQ(a.run({x}), c.run({x}));
}

TEST(Library, TheSameBytesEachTime) {
  TemporaryDirectory folder;
  Compiled compiled = compile(small_graph("small"), {.target = native_target()});
  for (const char* out : {"one", "two"}) write_library(compiled, folder.file(out));
  for (const char* file : {"libmodel.so", "model.a", "model.h", "example.c", "manifest.json"}) {
    EXPECT_EQ(content_of(folder.file("one") + "/" + file),
              content_of(folder.file("two") + "/" + file))
        << file;
  }
}

TEST(Library, ForOtherMachines) {
  TemporaryDirectory folder;
  for (const Target& target : targets()) {
    CompileOptions options;
    options.target = target;
    write_library(compile(small_graph("small"), options), folder.file(target.name));
    if (target.architecture == native_target().architecture) continue;
    expect_failure([&] { LoadedLibrary(folder.file(target.name), 1); },
                   {"is compiled for " + target.name, "this machine is"});
  }
}

TEST(Library, HasTheKernelsOfAGpu) {
  LATHE_NEEDS_OPENCL(target);
  TemporaryDirectory folder;
  Graph graph = small_graph("small");
  write_library(compile(graph, {.target = *target}), folder.file("out"));
  EXPECT_EQ(read_manifest(folder.file("out")).target, "opencl");
  EXPECT_EQ(read_manifest(folder.file("out")).host, native_target().name);
  Array x = ramp({1, 3, 8, 8});
  std::vector<double> must =
      Runner(compile(graph, {.target = native_target()}), 1).run({x})[0].reals();
  LoadedLibrary library(folder.file("out"), 1);
  for (int run = 0; run < 2; ++run) {
    std::vector<double> is = library.run({x})[0].reals();
    for (size_t i = 0; i < must.size(); ++i) ASSERT_NEAR(is[i], must[i], 1e-4) << i;
  }
}

TEST(Library, OfAGpuIsCalledByACpu) {
  TemporaryDirectory folder;
  Compiled compiled = compile(small_graph("small"), {.target = target_named("cuda:sm_90")});
  for (const char* host : {"aarch64", "x86-64-v3"}) {
    LibraryOptions options;
    options.host = host;
    write_library(compiled, folder.file(host), options);
    EXPECT_EQ(read_manifest(folder.file(host)).host, host);
    if (target_named(host).architecture == native_target().architecture) continue;
    expect_failure([&] { LoadedLibrary(folder.file(host), 1); }, {"compiled for", host});
  }
  auto refuse = [&](LibraryOptions options, const Compiled& what, const std::string& why) {
    expect_failure([&] { write_library(what, folder.file("refused"), options); }, {why});
  };
  refuse({.name = {}, .host = "opencl"}, compiled, "is a GPU");
  Compiled cpu = compile(small_graph("small"), {.target = native_target()});
  refuse({.name = {}, .host = "aarch64"}, cpu, "leave out the host");
  refuse({.name = {}, .without_weights = true}, cpu, "needs its weights");
}

void write_numbers(const std::string& path, const Array& array) {
  std::vector<float> numbers;
  for (double x : array.reals()) numbers.push_back(static_cast<float>(x));
  write_file(path, {std::as_bytes(std::span(numbers))});
}

/// Measures a folder of jobs and returns its results.
std::string measured(const std::string& folder) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(lathe_measure_jobs(folder.c_str(), 0.01, 0), 0);
  testing::internal::GetCapturedStdout();
  return content_of(folder + "/results");
}

TEST(MeasureJobs, MeasuresComparesAndGoesOn) {
  TemporaryDirectory folder;
  Compiled compiled = compile(small_graph("small"), {.target = native_target()});
  Array x = ramp({1, 3, 8, 8});
  write_library(compiled, folder.file("small"));
  write_numbers(folder.file("small/input0"), x);
  write_numbers(folder.file("small/output0"), Runner(compiled, 1).run({x})[0]);
  std::filesystem::create_directory(folder.file("broken"));
  write_numbers(folder.file("broken/libmodel.so"), x);
  std::string results = measured(folder.path());
  EXPECT_NE(results.find("small milliseconds "), std::string::npos) << results;
  EXPECT_NE(results.find(" off 0 first "), std::string::npos) << results;
  EXPECT_NE(results.find("broken failed "), std::string::npos) << results;
  write_library(compiled, folder.file("other"), {.name = "other"});
  std::string more = measured(folder.path());
  EXPECT_EQ(more.substr(0, results.size()), results) << "what is measured stays";
  EXPECT_NE(more.find("other milliseconds "), std::string::npos) << more;
  EXPECT_NE(more.find(" off -1 first "), std::string::npos) << "nothing to compare with";
}

TEST(Library, SaysWhichExtrasItNeeds) {
  TemporaryDirectory folder;
  Target here = native_target();
  Compiled compiled = compile(small_graph("small"), {.target = here});
  EXPECT_EQ(compiled.needs, std::set<Extra>{}) << "nothing in it computes with narrow numbers";
  compiled.needs = here.cpu.extras;
  write_library(compiled, folder.file("own"));
  EXPECT_EQ(read_manifest(folder.file("own")).target, full_name(here));
  Array x = ramp({1, 3, 8, 8});
  EXPECT_EQ(LoadedLibrary(folder.file("own"), 1).run({x}), Runner(compiled, 1).run({x}));
}

TEST(Library, ReplacesItsOwnFolderAndNoOther) {
  TemporaryDirectory folder;
  Compiled compiled = compile(small_graph("small"), {.target = native_target()});
  std::string out = folder.file("out");
  std::filesystem::create_directory(out);
  write_library(compiled, out + "/", {"first"});
  folder.file("out/mine", "kept");
  write_library(compiled, out, {"second"});
  EXPECT_EQ(content_of(out + "/mine"), "kept");
  EXPECT_NE(content_of(out + "/model.h").find("second_run"), std::string::npos);

  std::string other = folder.file("other");
  std::filesystem::create_directory(other);
  folder.file("other/manifest.json", "{}");
  expect_failure([&] { write_library(compiled, other); }, {"is not replaced", "manifest"});
  EXPECT_EQ(content_of(other + "/manifest.json"), "{}");
  expect_failure([&] { write_library(compiled, folder.file("none/out")); }, {"No such file"});
  expect_failure([&] { write_library(compiled, out, {"a-b"}); }, {"'a-b'", "'a_b'"});
  expect_failure([&] { write_library(compiled, out, {"lathe_api"}); }, {"'lathe_api'"});

  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos);
    ++entries;
  }
  EXPECT_EQ(entries, 2U);
}

Graph network_for(long batch) {
  std::string n = std::to_string(batch);
  return initialised(parse_graph("graph many\n"
                                 "input x: f32[" +
                                 n +
                                 "x3x8x8]\n"
                                 "weight w: f32[16x3x3x3] = normal(0.3)\n"
                                 "y = conv(x, w, pads=[1, 1, 1, 1]): f32[" +
                                 n +
                                 "x16x8x8]\n"
                                 "output y\n"),
                     1);
}

TEST(Library, HoldsANetworkForSeveralShapes) {
  TemporaryDirectory folder;
  std::vector<Compiled> variants = {compile(network_for(1), {.target = native_target()}),
                                    compile(network_for(4), {.target = native_target()})};
  size_t own = variants[0].weights.size();
  write_library(variants, folder.file("out"));
  EXPECT_NE(
      content_of(folder.file("out/manifest.json")).find(fmt::format("\"weights_bytes\": {}", own)),
      std::string::npos)
      << "weights that both read in the same order are there once";
  LoadedLibrary library(folder.file("out"), 1);
  EXPECT_EQ(library.inputs()[0].type.shape, (Shape{1, 3, 8, 8}));
  for (size_t i : {1, 0, 1}) {
    Array x = ramp({i == 0 ? 1 : 4, 3, 8, 8});
    EXPECT_EQ(library.run({x})[0].reals(), Runner(variants[i], 1).run({x})[0].reals());
  }
  expect_failure([&] { library.run({ramp({2, 3, 8, 8})}); }, {"1x3x8x8"});
}

TEST(Library, RefusesVariantsOfOtherNetworks) {
  TemporaryDirectory folder;
  Compiled one = compile(network_for(1), {.target = native_target()}),
           other = compile(small_graph("many"), {.target = native_target()});
  other.inputs[0].name = "z";
  expect_failure(
      [&] {
        write_library(std::vector<Compiled>{one, other}, folder.file("out"));
      },
      {"one network for several shapes"});
  expect_failure(
      [&] {
        write_library(std::vector<Compiled>{one, one}, folder.file("out"));
      },
      {"two variants are for the same shapes"});
}

}  // namespace
}  // namespace lathe
