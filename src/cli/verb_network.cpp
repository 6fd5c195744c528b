// verb_network.cpp: what the verbs about a network share. Interface: verb_network.h.
#include "cli/verb_network.h"

#include <unistd.h>

#include "base/error.h"

namespace lathe {

void add_network_arguments(CLI::App& app, NetworkArguments& arguments) {
  app.add_option("NETWORK", arguments.network,
                 "a built-in network ('lathe list models'), an .onnx or a .graph file")
      ->required();
  app.add_option("--shape", arguments.shapes,
                 "shape of an input of an .onnx file: NAME=1x3x224x224");
  app.add_option(
      "--apply", arguments.recipes,
      "change layers: 'NAMES: RECIPE', as in 'layer3.*.conv2: group(4)', or a file of such "
      "recipes: .json, or the .recipe of a bundle");
  app.add_option("--batch", arguments.model.batch, "samples at a time, of a built-in network")
      ->check(CLI::Range(1L, 1L << 20));
  app.add_option("--classes", arguments.model.classes, "classes of a built-in network")
      ->check(CLI::Range(1L, 1L << 20));
  app.add_option("--size", arguments.model.size,
                 "rows and columns of a built-in network's image, tokens of its text")
      ->check(CLI::Range(1L, 1L << 20));
}

std::string print_short(long n) {
  if (n < 10000) return fmt::format("{}", n);
  auto value = static_cast<double>(n);
  for (const char* unit : {"k", "M", "G"}) {
    value /= 1000;
    if (value < 1000) return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, unit);
  }
  return fmt::format("{:.1f} T", value / 1000);
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), is_terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (is_terminal_ && shown_ > 0) fmt::print(stderr, "\r{:79}\r", "");
  shown_ = 0;
}

void ProgressBar::show(size_t done, size_t all) {
  constexpr size_t width = 40;
  if (!is_terminal_ || all == 0) return;
  size_t filled = done * width / all;
  fmt::print(stderr, "\r{} [{:<{}}] {}/{} ", what_, std::string(filled, '='), width, done, all);
  ++shown_;
}

}  // namespace lathe
