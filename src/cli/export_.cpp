// export_.cpp: "lathe export NETWORK": writes a network as an ONNX file, a PyTorch module, or text.
#include "base/error.h"
#include "bundle/torch.h"
#include "cli/verb_network.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct ExportArgs {
  NetworkArguments network;
  std::string format = "onnx", file;
};

void write_text(const std::string& file, const std::string& text) {
  write_file(file, {std::as_bytes(std::span(text))});
}

int run_export(const ExportArgs& options) {
  Graph graph = load_network(options.network);
  if (options.file.empty() && options.format == "onnx") {
    fail("say where to write the ONNX file to: -o FILE.onnx");
  }
  if (options.file.empty()) {
    fmt::print("{}", options.format == "torch" ? print_torch(graph) : print(graph));
  } else if (options.format == "onnx") {
    write_onnx(initialised(graph, options.network.seed), options.file);
  } else if (options.format == "torch") {
    write_torch(initialised(graph, options.network.seed), options.file);
  } else {
    write_text(options.file, print(graph));
  }
  return 0;
}

std::function<int()> set_up_export(Command& app) {
  auto options = std::make_shared<ExportArgs>();
  add_network_arguments(app, options->network);
  app.add_option("--format", options->format, "what to write; torch is a PyTorch module")
      ->check(one_of({"onnx", "torch", "text"}));
  app.add_option("-o,--output FILE", options->file,
                 "the file to write; torch writes FILE.py, and the weights beside it as FILE.npz")
      ->writes();
  app.add_option("--seed", options->network.seed, "seed of the weights, where they are random");
  return [options] { return run_export(*options); };
}

}  // namespace

// The name "export" belongs to the language.
Verb export_() {
  return {"export", "write a network as an ONNX file, a PyTorch module, or text", set_up_export,
          "lathe export resnet18 -o resnet18.onnx"};
}

}  // namespace lathe::cli
