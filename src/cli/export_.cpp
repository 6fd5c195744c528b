// export_.cpp: "lathe export NETWORK": writes a network as an ONNX file, or as text.
#include "base/error.h"
#include "cli/verb_network.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct Options {
  NetworkArguments network;
  std::string format = "onnx", file;
};

int run(const Options& options) {
  Graph graph = load_network(options.network);
  std::string bytes;
  if (options.format == "onnx") {
    bytes = export_onnx(initialised(graph, options.network.seed));
  } else {
    bytes = print(graph);
  }
  if (options.file.empty()) {
    if (options.format == "onnx") fail("say where to write the ONNX file to: -o FILE.onnx");
    fmt::print("{}", bytes);
    return 0;
  }
  write_file(options.file, {std::as_bytes(std::span(bytes))});
  return 0;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_network_arguments(app, options->network);
  app.add_option("--format", options->format, "onnx, or text")
      ->check(CLI::IsMember({"onnx", "text"}));
  app.add_option("-o,--output", options->file, "the file to write");
  app.add_option("--seed", options->network.seed, "of weights that nobody trained");
  return [options] { return run(*options); };
}

}  // namespace

// The name "export" belongs to the language.
Verb export_() { return {"export", "write a network as an ONNX file, or as text", prepare}; }

}  // namespace lathe::cli
