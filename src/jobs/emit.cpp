// emit.cpp: what the compiler makes of something at a stage. Interface: emit.h.
#include "jobs/emit.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/code.h"
#include "compile/ready.h"
#include "jobs/applied.h"
#include "jobs/compile.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"

namespace lathe {
namespace {

/// Returns kernels as code that no backend has seen yet, or as the target's backend shows them.
std::string text_of(const std::vector<NamedCode>& kernels, const EmitOptions& options) {
  if (options.at != "code") {
    return print_kernels(target_named(options.target), options.at, kernels);
  }
  std::string text;
  for (const NamedCode& kernel : kernels) text += kernel.symbol + ":\n" + print(kernel.code);
  return text;
}

std::string text_of_layer(const EmitOptions& options, const JobListener& listener) {
  if (!options.recipe.empty()) {
    fail("a layer of a network is compiled as its template says; give a recipe for a nest only");
  }
  Graph graph = initialised(load_network(options.network), options.network.seed);
  CompileOptions how;
  how.target = target_named(options.target);
  how.target.workers = options.threads;
  if (options.tuned) use_tuned(how, options.threads, listener);
  how.max_error = options.limits.error;
  NodeListing listing = list_node(graph, options.layer, how);
  if (options.at == "nest") return listing.nest;
  if (options.at == "recipe") return listing.recipe + "\n";
  if (options.at == "loops") return listing.loops;
  return text_of(listing.kernels, options);
}

/// Returns the text of a nest after its recipe.
std::string text_of_nest(const Nest& nest, const EmitOptions& options) {
  if (options.at == "nest") return print(nest);
  Target target = target_named(options.target);
  if (options.at == "loops" && !target.is_gpu()) return print(scan(nest));
  // What sums start at is part of the code, not of the order that the recipe made.
  Nest started = with_starts(nest);
  LoopTree tree =
      target.is_gpu() ? scan_for(target, started, scan(started).layouts) : scan(started);
  if (options.at == "loops") return print(tree);
  std::vector<NamedCode> kernels;
  for (Code& code : lower(tree, target)) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  return text_of(kernels, options);
}

Emitted emit_nest(const EmitOptions& options) {
  Context context;
  Nest nest = load_nest(context, options.nest);
  for (const Judged& judged : try_recipe(nest, load_recipe(options.recipe), options.limits)) {
    if (!judged.verdict.accepted()) return {"", RefusedStep{judged.step, judged.verdict}};
    nest = judged.nest;
  }
  return {text_of_nest(nest, options)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Prints the lines that were taken out, and those that came instead: as few as can be.
std::string difference(const std::string& before, const std::string& after) {
  std::vector<std::string> a = lines_of(before), b = lines_of(after);
  // common[i][j]: how many lines the rest of "a" from i on and that of "b" from j on share.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += "- " + a[i++] + "\n";
    } else {
      text += "+ " + b[j++] + "\n";
    }
  }
  return text;
}

/// Returns the passes that run on a graph.
std::vector<std::string> passes_of(const EmitOptions& options) {
  std::vector<std::string> names =
      options.passes.empty() ? usual_passes() : parse_passes(options.passes);
  if (!options.after.empty()) {
    const std::string& last = find_pass(options.after).name;
    auto place = std::find(names.begin(), names.end(), last);
    if (place == names.end()) {
      fail("{} is not among the passes; give --passes, like 'FoldConstant,{}'", last, last);
    }
    names.erase(place + 1, names.end());
  } else if (options.passes.empty()) {
    names.clear();
  }
  if (options.diff && names.empty()) fail("--diff shows what a pass changed: give --after PASS");
  return names;
}

/// Returns a network's graph after some passes, or what the last of them changed.
std::string text_of_graph(const EmitOptions& options, const JobListener& listener) {
  if (!options.recipe.empty()) fail("--at graph is of a network: it takes no recipe");
  std::vector<std::string> names = passes_of(options);
  CompileOptions how;
  how.target = native_target();
  if (options.tuned) use_tuned(how, options.threads, listener);
  PassContext context = context_of({});
  context.workers = options.threads;
  context.layouts = how.layouts;
  // Without data little is folded.
  Graph graph = initialised(load_network(options.network), options.network.seed);
  std::string before, now = print(graph);
  after_passes(graph, names, context, [&](const Pass&, const Graph& result) {
    before = std::exchange(now, print(result));
  });
  return options.diff ? difference(before, now) : now;
}

}  // namespace

std::vector<std::string> emitted_stages() {
  std::vector<std::string> names = {"graph", "nest", "recipe", "loops", "code"};
  for (const std::string& form : text_forms()) names.push_back(form);
  return names;
}

Emitted emit(const EmitOptions& options, const JobListener& listener) {
  std::vector<std::string> stages = emitted_stages();
  if (std::find(stages.begin(), stages.end(), options.at) == stages.end()) {
    fail("there is no stage '{}'; there are {}", options.at, fmt::join(stages, ", "));
  }
  if (options.at == "graph") return {text_of_graph(options, listener)};
  if (options.diff || !options.after.empty() || !options.passes.empty()) {
    fail("--passes, --after and --diff are for --at graph");
  }
  if (!options.layer.empty()) return {text_of_layer(options, listener)};
  if (options.nest.empty()) {
    fail("say which layer of {}: of a whole network there is its graph", options.network.network);
  }
  return emit_nest(options);
}

}  // namespace lathe
