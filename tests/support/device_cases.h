// Cases for a device that is elsewhere: tests write what they would run here to files, which
// tests/device/run_cases.c reads there; it says what is in them.
//
//   LATHE_CASES_FOLDER=cases LATHE_CASES_TARGET=cuda:sm_90 build/release/tests/property_tests ...
//
// scripts/check-device sets these variables.
#pragma once

#include <fstream>
#include <map>

#include "backends/backend_grid.h"
#include "support/compiled.h"

namespace lathe::test {

/// Memory of a case: what it holds before, and what it must hold after.
struct DeviceTensor {
  std::string name;
  Element element = Element::f32;
  std::vector<std::byte> bytes;
  bool any = false;  ///< may all of it change?
  size_t first = 0;  ///< its elements begin so many bytes behind its beginning
  /// Where the elements lie that may change, in elements, and what they must be.
  std::vector<size_t> offsets = {};
  Expected expected = {};
};

/// A run of a kernel: each of its tensors begins so many bytes into one of the case.
struct DeviceLaunch {
  std::string symbol;
  Grid grid;
  std::vector<std::pair<size_t, long>> places;
};

struct DeviceCase {
  std::string story;
  std::vector<DeviceTensor> tensors;
  std::vector<DeviceLaunch> launches;
};

/// Returns the target that cases are written for. Nothing: tests run them here.
inline std::optional<Target> cases_target() {
  if (!std::getenv("LATHE_CASES_FOLDER")) return std::nullopt;
  const char* name = std::getenv("LATHE_CASES_TARGET");
  return target_named(name ? name : "opencl");
}

/// Returns the path of the next file of the test that runs: FOLDER/Suite.Test-3.cases.
inline std::string next_case_file() {
  static std::map<std::string, long> files;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = fmt::format("{}.{}", test->test_suite_name(), test->name());
  return fmt::format("{}/{}-{:03}.cases", std::getenv("LATHE_CASES_FOLDER"), name, files[name]++);
}

/// Writes files of cases, as lines with bytes behind some of them.
class CaseWriter {
 public:
  explicit CaseWriter(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  void write(const Target& target, const std::vector<std::string>& modules,
             const std::vector<DeviceCase>& cases) {
    bool cuda = target.architecture == Architecture::nvptx;
    line(fmt::format("lathe cases 1 {}", cuda ? "cuda" : "opencl"));
    for (const std::string& module : modules) bytes("module", module);
    for (const DeviceCase& c : cases) write(c);
    line("end");
    if (!file_.flush()) fail("cannot write '{}'", path_);
  }

 private:
  std::string path_;
  std::ofstream file_;

  void line(const std::string& text) { file_ << text << "\n"; }

  void bytes(const std::string& kind, std::string_view bytes) {
    line(fmt::format("{} {}", kind, bytes.size()));
    file_ << bytes << "\n";
  }

  void write(const DeviceCase& c) {
    bytes("case", c.story);
    for (const DeviceTensor& tensor : c.tensors) write(tensor);
    for (const DeviceLaunch& launch : c.launches) {
      const auto& [blocks, threads] = launch.grid;
      std::string text = fmt::format("launch {} {} {} {}", launch.symbol, fmt::join(blocks, " "),
                                     fmt::join(threads, " "), launch.places.size());
      for (auto [tensor, offset] : launch.places) text += fmt::format(" {} {}", tensor, offset);
      line(text);
    }
  }

  void write(const DeviceTensor& tensor) {
    const std::vector<std::byte>& memory = tensor.bytes;
    auto fill = memory.empty() ? std::byte{0} : memory.front();
    line(fmt::format("tensor {} {} {} {}", tensor.name, name_of(tensor.element), memory.size(),
                     static_cast<int>(fill)));
    bool filled = std::all_of(memory.begin(), memory.end(), [&](auto b) { return b == fill; });
    if (!filled) {
      bytes("bytes", {reinterpret_cast<const char*>(memory.data()), memory.size()});
    }
    if (tensor.any) line("any");
    if (!tensor.offsets.empty()) write_values(tensor);
  }

  /// Writes steps from one offset to the next, what must be there, and how far off it may be.
  void write_values(const DeviceTensor& tensor) {
    bool integers = !tensor.expected.integers.empty();
    std::string values;
    auto add = [&](const auto& x) { values.append(reinterpret_cast<const char*>(&x), sizeof x); };
    size_t before = 0;
    for (size_t offset : tensor.offsets) {
      add(static_cast<int32_t>(static_cast<long>(offset) - static_cast<long>(before)));
      before = offset;
    }
    for (long x : tensor.expected.integers) add(static_cast<int64_t>(x));
    for (double x : tensor.expected.reals) add(x);
    for (double x : tensor.expected.allowed) add(x);
    bytes(fmt::format("{} {} {}", integers ? "integers" : "reals", tensor.first,
                      tensor.offsets.size()),
          values);
  }
};

inline void write_cases(const Target& target, const std::vector<std::string>& modules,
                        const std::vector<DeviceCase>& cases) {
  CaseWriter(next_case_file()).write(target, modules, cases);
}

/// Returns the memory of a compiled case.
inline std::vector<DeviceTensor> device_tensors(const CompiledCase& c) {
  std::vector<DeviceTensor> result;
  std::vector<WatchedTensor> memory = memory_of(c);
  for (size_t t = 0; t < memory.size(); ++t) {
    const Tensor& tensor = c.tensors[t];
    auto whole = memory[t].whole();
    result.push_back({tensor.name, tensor.element, {whole.begin(), whole.end()}});
    DeviceTensor& made = result.back();
    made.first = WatchedTensor::margin;
    if (!may_change(c, t)) continue;
    for_each_element(tensor.shape, c.layouts[t],
                     [&](size_t, size_t offset) { made.offsets.push_back(offset); });
    if (is_compared(c, t)) {
      made.expected = expected_of(tensor, c.wanted);
    } else {
      made.expected.reals.assign(made.offsets.size(), 0);
      made.expected.allowed.assign(made.offsets.size(), std::numeric_limits<double>::infinity());
    }
  }
  return result;
}

/// Returns a compiled case whose kernels have these names.
inline DeviceCase device_case(const CompiledCase& c, const std::vector<NamedCode>& kernels) {
  DeviceCase result{c.story, device_tensors(c), {}};
  for (const NamedCode& kernel : kernels) {
    DeviceLaunch launch{kernel.symbol, grid_of(kernel.code), {}};
    for (size_t t : arguments_of(kernel.code)) {
      launch.places.emplace_back(t, static_cast<long>(WatchedTensor::margin));
    }
    result.launches.push_back(std::move(launch));
  }
  return result;
}

}  // namespace lathe::test
