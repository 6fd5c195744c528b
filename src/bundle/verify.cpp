// verify.cpp: whether a bundle holds what it says. Interface: verify.h.
#include "bundle/verify.h"

#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "bundle/bundle.h"
#include "bundle/verify_peers.h"
#include "compile/executor.h"
#include "compile/library.h"
#include "onnx/onnx.h"
#include "program/layers.h"
#include "program/random_inputs.h"

namespace lathe {
namespace {

using Arrays = std::vector<Array>;

/// Products that the interpreter does in a second, at least.
constexpr double interpreter_speed = 1e8;

/// How far a library of less precise numbers may be off, in terms of an output's largest element:
/// where a number is as near to one integer as to the next, another order of sums decides, and all
/// that is behind moves with it.
constexpr double narrow_tolerance = 0.05;

Arrays interpreted(const Graph& graph, const Arrays& inputs) {
  Context context;
  std::vector<std::optional<Array>> values(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  auto value_of = [&](ValueId id) { return values[id] ? *values[id] : *graph.values[id].data; };
  for (const Node& node : graph.nodes) {
    Arrays operands;
    for (ValueId id : node.inputs) {
      if (id != no_value) operands.push_back(value_of(id));
    }
    Arrays results = evaluate(context, call_of(graph, node), operands);
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i] != no_value) values[node.outputs[i]] = results[i];
    }
  }
  Arrays outputs;
  for (ValueId id : graph.outputs) outputs.push_back(value_of(id));
  return outputs;
}

double seconds_to_interpret(const Graph& graph) {
  double products = 0;
  for (const Layer& layer : layers_of(graph)) products += static_cast<double>(layer.cost.macs);
  return products / interpreter_speed;
}

/// All that is compared, one after the other.
class Verification {
 public:
  Verification(const VerifiedFiles& files, const VerifyOptions& options)
      : files_(files), options_(options) {}

  std::vector<Check> run() {
    if (files_.onnx.empty()) {
      run_library_alone();
      return std::move(checks_);
    }
    Graph graph = import_onnx(files_.onnx);
    inputs_ = random_inputs(graph, options_.seed);
    find_truth(graph);
    compare_library();
    for (const OnnxPeer& peer : onnx_peers()) {
      compare_peer(peer.name, [&] {
        return run_onnx(peer, options_.pythons, files_.onnx, inputs_, graph.outputs.size());
      });
    }
    if (files_.torch.empty()) return std::move(checks_);
    compare_peer("PyTorch", [&] {
      return run_torch(options_.pythons, files_.torch, inputs_, graph.outputs.size());
    });
    return std::move(checks_);
  }

 private:
  const VerifiedFiles& files_;
  const VerifyOptions& options_;
  Arrays inputs_, truth_;
  std::vector<Check> checks_;

  /// Finds what the others must compute, and who says so.
  void find_truth(const Graph& graph) {
    auto compiled = [&] { return Executor(graph, {.target = options_.target}).run(inputs_); };
    double seconds = seconds_to_interpret(graph);
    if (seconds > options_.patience) {
      checks_.push_back({"interpreter", Check::Result::skipped,
                         fmt::format("it would take about {:.0f} s; model.onnx compiled by the "
                                     "templates stands for it",
                                     seconds)});
      truth_ = compiled();
      return;
    }
    truth_ = interpreted(graph, inputs_);
    checks_.push_back({"interpreter", Check::Result::same, "says what the others must compute"});
    compare("model.onnx", compiled);
  }

  void compare_library() {
    auto run = [&] { return LoadedLibrary(files_.library, options_.threads).run(inputs_); };
    const LessPrecise& less = files_.less_precise;
    if (!less.unknown.empty()) {
      checks_.push_back({"library", Check::Result::skipped, less.unknown});
      return;
    }
    if (!less.network) return compare("library", run);
    // It is compared with its own network, which the files beside it are more precise than.
    Arrays precise = std::exchange(truth_, interpreted(*less.network, inputs_));
    compare("library", run, narrow_tolerance);
    truth_ = std::move(precise);
  }

  void compare(const std::string& what, const std::function<Arrays()>& outputs) {
    compare(what, outputs, options_.tolerance);
  }

  void compare(const std::string& what, const std::function<Arrays()>& outputs, double tolerance) {
    try {
      add(what, outputs(), tolerance);
    } catch (const OtherMachine& error) {
      checks_.push_back({what, Check::Result::skipped, error.what()});
    } catch (const UserError& error) {
      checks_.push_back({what, Check::Result::differs, error.what()});
    }
  }

  void compare_peer(const std::string& what, const std::function<PeerOutputs()>& run) {
    PeerOutputs result = run();
    if (!result.missing.empty()) {
      checks_.push_back({what, Check::Result::skipped, result.missing});
    } else if (!result.failure.empty()) {
      checks_.push_back({what, Check::Result::differs, result.failure});
    } else {
      add(what, result.outputs, options_.tolerance);
    }
  }

  void add(const std::string& what, const Arrays& outputs, double tolerance) {
    double error = 0;
    std::string wrong = difference(outputs, truth_, tolerance, error);
    if (wrong.empty()) {
      checks_.push_back({what, Check::Result::same, fmt::format("off by {:.1e}", error)});
    } else {
      checks_.push_back({what, Check::Result::differs, wrong});
    }
  }

  void run_library_alone() {
    try {
      LoadedLibrary library(files_.library, options_.threads);
      checks_.push_back({"library", Check::Result::same, "can be loaded"});
    } catch (const OtherMachine& error) {
      checks_.push_back({"library", Check::Result::skipped, error.what()});
    } catch (const UserError& error) {
      checks_.push_back({"library", Check::Result::differs, error.what()});
    }
    checks_.push_back({"outputs", Check::Result::skipped,
                       "there is no ONNX file to compare with; --onnx FILE names it"});
  }
};

/// Compares files with their hashes.
std::vector<Check> check_files(const std::string& folder, const FileHashes& written) {
  std::vector<Check> checks;
  for (const FileChange& change : changes_in(folder, written)) {
    bool missing = change.kind == FileChange::Kind::missing;
    checks.push_back({"files", Check::Result::differs,
                      change.name + (missing ? " is missing" : " is not what was written")});
  }
  if (!checks.empty()) return checks;
  return {{"files", Check::Result::same,
           fmt::format("all {} are as they were written", written.size())}};
}

}  // namespace

std::string difference(const std::vector<Array>& is, const std::vector<Array>& must,
                       double tolerance, double& error) {
  if (is.size() != must.size()) return fmt::format("{} outputs, not {}", is.size(), must.size());
  for (size_t i = 0; i < is.size(); ++i) {
    if (is[i].count() != must[i].count()) {
      return fmt::format("output {} is {}, not {}", i, print_shape(is[i].shape()),
                         print_shape(must[i].shape()));
    }
    std::vector<double> a = is[i].reals(), b = must[i].reals();
    double largest = 0;
    for (double x : b) {
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    }
    for (size_t k = 0; k < a.size(); ++k) {
      if (a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) continue;
      double off = std::abs(a[k] - b[k]) / largest;
      if (!(off <= tolerance)) {
        return fmt::format("element {} of output {} is {:.6g} instead of {:.6g}", k, i, a[k], b[k]);
      }
      error = std::max(error, off);
    }
  }
  return "";
}

std::vector<Check> verify_outputs(const VerifiedFiles& files, const VerifyOptions& options) {
  return Verification(files, options).run();
}

std::vector<Check> verify_bundle(const std::string& folder, const VerifyOptions& options,
                                 LessPrecise less_precise) {
  temporary_place();  // where other programs find their inputs: if there is none, it is said first
  std::vector<Check> checks = check_files(folder, bundle_files(folder));
  VerifiedFiles files{folder + "/library", folder + "/model.onnx", folder + "/model.py",
                      std::move(less_precise)};
  try {
    for (Check& check : verify_outputs(files, options)) checks.push_back(std::move(check));
  } catch (const UserError& error) {
    checks.push_back({"model.onnx", Check::Result::differs, error.what()});
  }
  return checks;
}

std::vector<Check> verify_library(const std::string& folder, const std::string& onnx,
                                  const VerifyOptions& options) {
  temporary_place();
  std::vector<Check> checks = check_files(folder, library_files(folder));
  for (Check& check : verify_outputs({folder, onnx, ""}, options)) {
    checks.push_back(std::move(check));
  }
  return checks;
}

std::string summary_of(const std::vector<Check>& checks) {
  auto named = [&](Check::Result result) {
    std::vector<std::string> names;
    for (const Check& check : checks) {
      bool again = !names.empty() && names.back() == check.what;
      if (check.result == result && !again) names.push_back(check.what);
    }
    return names;
  };
  std::vector<std::string> same = named(Check::Result::same), wrong = named(Check::Result::differs),
                           skipped = named(Check::Result::skipped);
  std::string text =
      wrong.empty()
          ? fmt::format("nothing differs in {} check{}", same.size(), same.size() == 1 ? "" : "s")
          : fmt::format("{} of {} checks failed: {}", wrong.size(), same.size() + wrong.size(),
                        fmt::join(wrong, ", "));
  if (!skipped.empty()) text += fmt::format("; not checked: {}", fmt::join(skipped, ", "));
  return text;
}

}  // namespace lathe
