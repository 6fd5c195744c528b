// compile.cpp: "lathe compile NETWORK": writes a network as a library.
#include "base/error.h"
#include "cli/verb_network.h"
#include "cli/verb_tuned.h"
#include "compile/library.h"

namespace lathe::cli {
namespace {

struct Options {
  NetworkArguments network;
  TunedArguments tuned;
  int threads = 1;
  std::string folder, target = "native";
  LibraryOptions library;
  bool thorough = false;
};

int run(const Options& options) {
  CompileOptions how;
  how.target = target_named(options.target);
  how.effort = options.thorough ? Effort::thorough : Effort::quick;
  how.target.workers = options.threads;
  how.choose = choices_for(options.tuned, how.target, options.threads);
  how.layouts = layouts_for(options.tuned, how.target, options.threads);
  how.max_error = options.tuned.max_error;
  check_library(options.folder, options.library);
  Graph graph = initialised(load_network(options.network), options.network.seed);
  {
    ProgressBar bar("compiling");
    how.progress = [&](size_t n, size_t all) { bar.show(n, all); };
    Compiled compiled = lathe::compile(graph, how);
    write_library(compiled, options.folder, options.library);
  }
  std::string name =
      options.library.name.empty() ? identifier_of(graph.name) : options.library.name;
  fmt::print("{}: libmodel.so, model.a, model.h, example.c, manifest.json\n", options.folder);
  fmt::print("call {0}_create, {0}_run and {0}_destroy, as example.c does\n", name);
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_network_arguments(app, options->network);
  app.add_option("-o,--output", options->folder,
                 "the folder to write: a new one, or one that Lathe wrote")
      ->required();
  app.add_option("--target", options->target, "native, aarch64, x86-64-v3 or x86-64-v4");
  app.add_option("--threads", options->threads,
                 "workers that it is tuned for; the library runs with any number")
      ->check(CLI::Range(1, 256));
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned);
  app.add_option("--name", options->library.name,
                 "what the names of the functions begin with; the network's name unless told");
  app.add_flag("--thorough", options->thorough, "let LLVM work longer on the code");
  app.add_option("--seed", options->network.seed, "of weights that nobody trained");
  return [options] { return run(*options); };
}

}  // namespace

Verb compile() { return {"compile", "write a network as a library for C", prepare}; }

}  // namespace lathe::cli
