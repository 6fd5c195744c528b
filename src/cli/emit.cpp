// emit.cpp: "lathe emit NEST RECIPE --at STAGE": what the compiler makes of a nest, of a layer of a
// network, or of its graph, at any stage.
#include "cli/verb_nest.h"
#include "cli/verb_network.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"
#include "compile/ready.h"
#include "nest/starts.h"
#include "nest/text.h"

namespace lathe::cli {
namespace {

struct EmitArgs {
  NestArguments arguments;
  std::string at = "loops";
  std::string target = "native";
  TunedArguments tuned;
  int threads = 1;
  std::string passes, after;
  bool diff = false;
};

/// NETWORK:LAYER, if the text before the first colon names a network.
std::optional<std::pair<std::string, std::string>> layer_of(const std::string& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('(') != std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, colon), text.substr(colon + 1));
}

/// Returns kernels as code that no backend has seen yet, or as the target's backend shows them.
std::string text_of(const std::vector<NamedCode>& kernels, const EmitArgs& options) {
  if (options.at != "code") {
    return print_kernels(target_named(options.target), options.at, kernels);
  }
  std::string text;
  for (const NamedCode& kernel : kernels) text += kernel.symbol + ":\n" + print(kernel.code);
  return text;
}

/// Returns the stages of the compiler, in order: the last are the languages of backends.
std::vector<std::string> stages() {
  std::vector<std::string> names = {"graph", "nest", "recipe", "loops", "code"};
  for (const std::string& form : text_forms()) names.push_back(form);
  return names;
}

int show_layer(const EmitArgs& options, const std::string& network, const std::string& layer) {
  if (!options.arguments.recipe.empty()) {
    fail("a layer of a network is compiled as its template says; give a recipe for a nest only");
  }
  NetworkArguments arguments;
  arguments.network = network;
  Graph graph = initialised(load_network(arguments), 0);
  CompileOptions how;
  how.target = target_named(options.target);
  how.target.workers = options.threads;
  how.choose = choices_for(options.tuned, how.target, options.threads);
  how.layouts = layouts_for(options.tuned, how.target, options.threads);
  how.max_error = options.arguments.limits.error;
  NodeListing listing = list_node(graph, layer, how);
  if (options.at == "nest") {
    fmt::print("{}", listing.nest);
  } else if (options.at == "recipe") {
    fmt::print("{}\n", listing.recipe);
  } else if (options.at == "loops") {
    fmt::print("{}", listing.loops);
  } else {
    fmt::print("{}", text_of(listing.kernels, options));
  }
  return 0;
}

int show_nest(const EmitArgs& options) {
  Context context;
  Nest nest = load_nest(context, options.arguments.nest);
  for (const Judged& judged :
       try_recipe(nest, load_recipe(options.arguments.recipe), options.arguments.limits)) {
    if (!judged.verdict.accepted()) {
      fmt::print(stderr, "lathe: {}\n{}", print(judged.step), print_verdict(judged.verdict, 2));
      return 1;
    }
    nest = judged.nest;
  }
  if (options.at == "nest") {
    fmt::print("{}", print(nest));
    return 0;
  }
  Target target = target_named(options.target);
  if (options.at == "loops" && !target.is_gpu()) {
    fmt::print("{}", print(scan(nest)));
    return 0;
  }
  // What sums start at is part of the code, not of the order that the recipe made.
  Nest started = with_starts(nest);
  LoopTree tree =
      target.is_gpu() ? scan_for(target, started, scan(started).layouts) : scan(started);
  if (options.at == "loops") {
    fmt::print("{}", print(tree));
    return 0;
  }
  std::vector<NamedCode> kernels;
  for (Code& code : lower(tree, target)) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  fmt::print("{}", text_of(kernels, options));
  return 0;
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

/// Prints a network's graph after some passes, or what the last of them changed.
int show_graph(const EmitArgs& options) {
  if (!options.arguments.recipe.empty()) fail("--at graph is of a network: it takes no recipe");
  NetworkArguments arguments;
  arguments.network = options.arguments.nest;
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
  PassContext context = context_of({});
  context.workers = options.threads;
  context.layouts = layouts_for(options.tuned, native_target(), options.threads);
  Graph graph = initialised(load_network(arguments), 0);  // without data little is folded
  std::string before, now = print(graph);
  after_passes(graph, names, context, [&](const Pass&, const Graph& result) {
    before = std::exchange(now, print(result));
  });
  fmt::print("{}", options.diff ? difference(before, now) : now);
  return 0;
}

int run_emit(const EmitArgs& options) {
  if (options.at == "graph") return show_graph(options);
  if (options.diff || !options.after.empty() || !options.passes.empty()) {
    fail("--passes, --after and --diff are for --at graph");
  }
  auto layer = layer_of(options.arguments.nest);
  return layer ? show_layer(options, layer->first, layer->second) : show_nest(options);
}

std::function<int()> set_up_emit(Command& app) {
  auto options = std::make_shared<EmitArgs>();
  add_nest_arguments(app, options->arguments);
  app.option("NEST")->description(
      "an operator, like conv(co=64, ...), a .nest file, a layer of a network: NETWORK:LAYER, or, "
      "for --at graph, a network");
  app.add_option("--at STAGE", options->at, "the stage of the compiler to print")
      ->check(one_of(stages()));
  add_target_argument(app, options->target, "the machine that code is shown for");
  app.add_option("--threads", options->threads, "number of workers to compile for")
      ->check(range(1, 256));
  app.add_option("--passes LIST", options->passes,
                 "passes to run on a graph, in order, like 'FoldConstant,FuseOps'")
      ->otherwise("the usual ones");
  app.add_option("--after PASS", options->after, "the last pass to run; 'lathe list passes'");
  app.add_flag("--diff", options->diff, "print what that pass changed");
  add_tuned_arguments(app, options->tuned);
  return [options] { return run_emit(*options); };
}

}  // namespace

Verb emit() {
  return {"emit", "print a nest or a layer NETWORK:LAYER at a stage of the compiler", set_up_emit,
          "lathe emit 'matmul(i=64, j=64, k=64)' 'split(j, 8) -> vectorize(j.i)' --at loops"};
}

}  // namespace lathe::cli
