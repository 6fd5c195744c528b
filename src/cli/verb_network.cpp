// verb_network.cpp: what the verbs about a network share. Interface: verb_network.h.
#include "cli/verb_network.h"

#include <unistd.h>

#include "base/error.h"

namespace lathe {
namespace {

/// Returns the names of the built-in networks, for shell completion.
std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : list_models()) names.push_back(entry.example);
  return names;
}

}  // namespace

void add_network_arguments(Command& app, NetworkArguments& arguments) {
  constexpr double most = 1 << 20;
  app.add_option("NETWORK", arguments.network,
                 "a built-in network ('lathe list models'), an .onnx file, or a .graph file")
      ->required()
      ->suggests(model_names());
  app.add_option("--shape NAME=SHAPE", arguments.shapes,
                 "set the shape of an input of an .onnx file, like x=1x3x224x224");
  app.add_option("--apply RECIPE", arguments.recipes,
                 "change layers first: 'NAMES: STEPS', like 'layer3.*.conv2: group(4)'; or a .json "
                 "file of such lines; or the .recipe file of a bundle");
  app.add_option("--batch", arguments.model.batch, "set the batch size of a built-in network")
      ->check(range(1, most));
  app.add_option("--classes", arguments.model.classes,
                 "set the number of classes of a built-in network")
      ->check(range(1, most));
  app.add_option(
         "--size", arguments.model.size,
         "set the rows and columns of a built-in network's image, or the tokens of its text")
      ->check(range(1, most));
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
