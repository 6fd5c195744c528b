// emit.cpp: "lathe emit NEST RECIPE --at STAGE": what the compiler makes of a nest, or of a layer
// of a network, at any stage.
#include "cli/verb_nest.h"
#include "cli/verb_network.h"
#include "cli/verb_tuned.h"
#include "compile/compile.h"
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
};

/// NETWORK:LAYER, if the text before the first colon names a network.
std::optional<std::pair<std::string, std::string>> layer_of(const std::string& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('(') != std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, colon), text.substr(colon + 1));
}

std::string print_kernels(const std::vector<NamedCode>& kernels, const EmitArgs& options) {
  if (options.at == "code") {
    std::string text;
    for (const NamedCode& kernel : kernels) text += kernel.symbol + ":\n" + print(kernel.code);
    return text;
  }
  LlvmCompiler compiler(target_named(options.target));
  return options.at == "llvm" ? compiler.ir(kernels) : compiler.assembly(kernels);
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
    fmt::print("{}", print_kernels(listing.kernels, options));
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
  if (options.at == "loops") {
    fmt::print("{}", print(scan(nest)));
    return 0;
  }
  // What sums start at is part of the code, not of the order that the recipe made.
  LoopTree tree = scan(with_starts(nest));
  std::vector<NamedCode> kernels;
  for (Code& code : lower(tree, target_named(options.target))) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  fmt::print("{}", print_kernels(kernels, options));
  return 0;
}

int run_emit(const EmitArgs& options) {
  auto layer = layer_of(options.arguments.nest);
  return layer ? show_layer(options, layer->first, layer->second) : show_nest(options);
}

std::function<int()> set_up_emit(Command& app) {
  auto options = std::make_shared<EmitArgs>();
  add_nest_arguments(app, options->arguments);
  app.option("NEST")->description(
      "an operator, like conv(co=64, ...), a .nest file, or a layer of a network: NETWORK:LAYER");
  app.add_option("--at STAGE", options->at, "the stage of the compiler to print")
      ->check(one_of({"nest", "recipe", "loops", "code", "llvm", "asm"}));
  app.add_option("--target", options->target,
                 "the machine of code, llvm and asm: native, aarch64, x86-64-v3 or x86-64-v4")
      ->suggests({"native", "aarch64", "x86-64-v3", "x86-64-v4"});
  app.add_option("--threads", options->threads, "number of workers to compile for")
      ->check(range(1, 256));
  add_tuned_arguments(app, options->tuned);
  return [options] { return run_emit(*options); };
}

}  // namespace

Verb emit() {
  return {"emit", "print a nest or a layer NETWORK:LAYER at a stage of the compiler", set_up_emit,
          "lathe emit 'matmul(i=64, j=64, k=64)' 'split(j, 8) -> vectorize(j.i)' --at loops"};
}

}  // namespace lathe::cli
