// conformance.cpp: ONNX's own tests of backends. Interface: conformance.h.
#include "compile/conformance.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "compile/executor.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using Status = ConformanceResult::Status;

/// What the outputs may differ by.
struct Tolerance {
  double relative, absolute;
};

/// What the ONNX project allows its own runner; whole networks may round twice as much.
constexpr Tolerance of_operators{1e-3, 1e-7}, of_networks{2e-3, 1e-7};

/// Tests whose wanted outputs are less exact than what is allowed: they cannot be passed by being
/// right.
constexpr const char* inexact_tests[] = {"test_dft_inverse", "test_dft_inverse_opset19"};

/// Returns the files PREFIX0.pb, PREFIX1.pb ... in their order.
std::vector<std::string> numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<std::string> files;
  for (size_t i = 0;; ++i) {
    fs::path file = folder / fmt::format("{}{}.pb", prefix, i);
    if (!fs::exists(file)) return files;
    files.push_back(file.string());
  }
}

/// Returns an array as the type that the model says. Older data sets store bf16 as u16.
Array with_type(const Array& array, Element element) {
  bool is_stored_so = element == Element::bf16 && array.element() == Element::u16;
  return is_stored_so ? Array::of_bytes(element, array.shape(), array.bytes()) : array;
}

/// Fails unless the two agree; not a number and infinities agree with themselves.
void compare(const Array& got, const Array& wanted, size_t output, Tolerance tolerance) {
  if (got.element() != wanted.element() || got.shape() != wanted.shape()) {
    fail("output {} is {}, but {} is wanted", output, print_type({got.element(), got.shape()}),
         print_type({wanted.element(), wanted.shape()}));
  }
  if (wanted.element() == Element::string) {
    if (!(got == wanted)) fail("output {} has other texts", output);
    return;
  }
  std::vector<double> g = got.reals(), w = wanted.reals();
  for (size_t i = 0; i < g.size(); ++i) {
    if (g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i]))) continue;
    if (std::fabs(g[i] - w[i]) <= tolerance.absolute + tolerance.relative * std::fabs(w[i])) {
      continue;
    }
    fail("output {}, element {} is {}, but {} is wanted", output, i, g[i], w[i]);
  }
}

void compare_all(const std::vector<Array>& got, const std::vector<std::string>& wanted,
                 Tolerance tolerance) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i >= got.size()) fail("there are {} outputs, but {} are wanted", got.size(), wanted.size());
    compare(got[i], with_type(read_tensor(wanted[i]), got[i].element()), i, tolerance);
  }
}

/// Reads the inputs by name. Data sets leave those out that have a default, or give them all.
std::map<std::string, Array> read_inputs(const OnnxSummary& summary,
                                         const std::vector<std::string>& files) {
  size_t needed = 0;
  for (const auto& input : summary.inputs) needed += input.has_default ? 0 : 1;
  std::map<std::string, Array> values;
  size_t next = 0;
  for (const auto& input : summary.inputs) {
    if (input.has_default && files.size() <= needed) continue;
    if (next >= files.size()) break;
    const std::string& file = files[next++];
    if (input.element) values.emplace(input.name, with_type(read_tensor(file), *input.element));
  }
  return values;
}

std::vector<Array> run_on(const Graph& graph, const std::map<std::string, Array>& values,
                          const Target& target) {
  std::vector<Array> inputs;
  for (ValueId id : graph.inputs) {
    auto found = values.find(graph.values[id].name);
    if (found == values.end()) fail("there is no data for input '{}'", graph.values[id].name);
    inputs.push_back(found->second);
  }
  return Executor(graph, {.target = target}).run(inputs);
}

void run_data_set(const ConformanceTest& test, const OnnxSummary& summary, const fs::path& folder,
                  const Target& target) {
  ImportOptions options;
  options.values = read_inputs(summary, numbered(folder, "input_"));
  Graph graph = import_onnx(test.model, options);
  compare_all(run_on(graph, options.values, target), numbered(folder, "output_"), of_operators);
}

/// Returns the input of the whole networks: the numbers from 0 to 1, in equal steps.
Array ramp(const Shape& shape) {
  std::vector<double> values(static_cast<size_t>(count_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i) / static_cast<double>(values.size());
  }
  return Array::of_reals(Element::f32, shape, values);
}

void run_network(const ConformanceTest& test, const Target& target) {
  Graph graph = import_onnx(test.model);
  std::map<std::string, Array> values;
  for (ValueId id : graph.inputs) {
    values.emplace(graph.values[id].name, ramp(graph.values[id].type.shape));
  }
  std::string prefix = fs::path(test.model).stem().string() + "_output_";
  std::vector<std::string> wanted = numbered(fs::path(test.model).parent_path(), prefix);
  if (wanted.empty()) fail("there are no outputs to compare with");
  compare_all(run_on(graph, values, target), wanted, of_networks);
}

void run_test(const ConformanceTest& test, const OnnxSummary& summary, const Target& target) {
  if (test.kind == "light") return run_network(test, target);
  if (std::ranges::find(inexact_tests, test.name) != std::end(inexact_tests)) {
    throw Unsupported("the wanted outputs hold rounding errors where the sum is 0");
  }
  size_t sets = 0;
  for (;; ++sets) {
    fs::path folder = fs::path(test.model).parent_path() / fmt::format("test_data_set_{}", sets);
    if (!fs::exists(folder)) break;
    run_data_set(test, summary, folder, target);
  }
  if (sets == 0) fail("there is no data set to run on");
}

}  // namespace

const char* name_of(Status status) {
  switch (status) {
    case Status::passed:
      return "passed";
    case Status::failed:
      return "failed";
    case Status::unsupported:
      return "not supported";
  }
  return "";
}

std::vector<ConformanceTest> find_conformance_tests(const std::string& folder) {
  if (!fs::is_directory(folder)) fail("'{}' is no folder", folder);
  std::vector<ConformanceTest> tests;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".onnx" || !entry.is_regular_file()) continue;
    fs::path parent = path.parent_path();
    if (path.filename() == "model.onnx") {
      tests.push_back(
          {parent.parent_path().filename().string(), parent.filename().string(), path.string()});
    } else if (path.filename().string().starts_with("light_")) {
      tests.push_back({"light", path.stem().string(), path.string()});
    }
  }
  std::sort(tests.begin(), tests.end(), [](const ConformanceTest& a, const ConformanceTest& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  if (tests.empty()) fail("'{}' holds no ONNX test: no folder with a model.onnx", folder);
  return tests;
}

ConformanceResult run_conformance_test(const ConformanceTest& test, const Target& target) {
  ConformanceResult result{Status::passed, "", {}};
  try {
    OnnxSummary summary = summarise_onnx(test.model);
    result.operators = summary.operators;
    run_test(test, summary, target);
  } catch (const Unsupported& error) {
    result.status = Status::unsupported;
    result.reason = error.what();
  } catch (const std::exception& error) {
    result.status = Status::failed;
    result.reason = error.what();
  }
  return result;
}

}  // namespace lathe
