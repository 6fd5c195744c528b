// string_normalizer.cpp: words without those of a list, in upper or lower case. Case is that of
// the ASCII letters; other characters stay as they are.
#include <algorithm>
#include <set>

#include "ops/op_check.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_string_normalizer(const Call& call) {
  const Shape& shape = call.shape(0);
  if (call.element(0) != Element::string) {
    call.refuse("operand 0 must be text, not {}", name_of(call.element(0)));
  }
  if (shape.size() != 1 && (shape.size() != 2 || shape[0] != 1)) {
    call.refuse("the words {} must be one row", print_shape(shape));
  }
  const std::string& change = call.text("case_change");
  if (change != "NONE" && change != "LOWER" && change != "UPPER") {
    call.refuse("case_change=\"{}\" must be one of: NONE LOWER UPPER", change);
  }
  call.flag("is_case_sensitive");
  return {{Element::string, {}, true}};
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

std::vector<Array> run_string_normalizer(const Call& call, const std::vector<Array>& inputs) {
  bool sensitive = call.flag("is_case_sensitive");
  const std::string& change = call.text("case_change");
  std::set<std::string> stopped;
  for (const std::string& word : call.texts("stopwords")) {
    stopped.insert(sensitive ? word : lower(word));
  }
  std::vector<std::string> words;
  for (const std::string& word : inputs[0].strings()) {
    if (stopped.contains(sensitive ? word : lower(word))) continue;
    words.push_back(change == "LOWER" ? lower(word) : change == "UPPER" ? upper(word) : word);
  }
  // No words at all are one empty word.
  if (words.empty()) words.emplace_back();
  Shape shape = inputs[0].shape();
  shape.back() = static_cast<long>(words.size());
  return {Array::of_strings(shape, words)};
}

}  // namespace

Op string_normalizer() {
  return {.name = "string_normalizer",
          .summary = "words without those of a list, in upper or lower case",
          .examples = {"string_normalizer(string[4], case_change=\"UPPER\")",
                       "string_normalizer(string[1x3], stopwords=[\"a\", \"the\"])"},
          .graph = {.settings = {{"case_change", std::string("NONE"), "NONE, LOWER, UPPER"},
                                 {"is_case_sensitive", 0L, "1: stopwords match in this case only"},
                                 {"stopwords", std::vector<std::string>{}, "words to leave out"}},
                    .infer = types_of_string_normalizer,
                    .run = run_string_normalizer}};
}

}  // namespace lathe::ops
