// dataset_tokens.cpp: texts that are made up. Each class has a few words that are frequent in it;
// half of the tokens of a sample are such words, the others are any. Interface: synthetic_tokens()
// of dataset_sources.h.
#include "base/random.h"
#include "data/dataset_sources.h"

namespace lathe {
namespace {

constexpr uint64_t frequent_words = 16;  // of each class

/// Returns one of the frequent words of a class.
uint64_t frequent_word(const Synthesis& how, long label, size_t input, uint64_t which,
                       uint64_t below) {
  Random random(how.seed, fmt::format("synthetic words {} {} {}", input, label, which));
  return random.below(below);
}

}  // namespace

Dataset synthetic_tokens(const Synthesis& how, const InputForm& form, long classes, size_t input) {
  Dataset dataset{.name = "synthetic", .count = how.count, .classes = classes, .shape = form.shape};
  auto size = static_cast<size_t>(count_of(form.shape));
  auto below = static_cast<uint64_t>(form.below);
  dataset.read_images = [=](long first, std::span<float> values) {
    for (; !values.empty(); values = values.subspan(size), ++first) {
      Random random(how.seed, fmt::format("synthetic tokens {} {} {}", static_cast<int>(how.split),
                                          input, first));
      long label = synthetic_label(how, classes, first);
      for (float& token : values.first(size)) {
        bool is_frequent = random.below(2) == 0;
        uint64_t which = random.below(is_frequent ? frequent_words : below);
        if (is_frequent) which = frequent_word(how, label, input, which, below);
        token = static_cast<float>(which);
      }
    }
  };
  return dataset;
}

}  // namespace lathe
