// verb_help.cpp: help for terminals. Interface: verb_help.h.
#include "cli/verb_help.h"

#include <fmt/format.h>

#include "cli/verb_text.h"

namespace lathe::cli {
namespace {

/// Where the text about an option begins.
constexpr size_t text_column = 24;

/// Prints one row: what is written, and behind it, or below if it is long, what it means.
std::string print_row(const std::string& head, const std::string& text) {
  std::string row = "  " + head;
  if (row.size() + 2 > text_column) {
    row += "\n" + std::string(text_column, ' ');
  } else {
    row.resize(text_column, ' ');
  }
  return row + wrapped(text, text_column, text_column) + "\n";
}

/// Prints a command of several lines: those behind the first are indented more.
std::string print_example(const std::string& example) {
  return "  " + wrapped(example, 6, 2) + "\n";
}

}  // namespace

const Verb& find_verb(const std::string& name) {
  for (const Verb& verb : all()) {
    if (verb.name == name) return verb;
  }
  fail("no verb '{}'; 'lathe help' lists them", name);
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : all()) names.push_back(verb.name);
  return names;
}

Command syntax_of(const Verb& verb) {
  Command command(verb.name);
  verb.set_up(command);
  return command;
}

std::string usage_of(const Command& command) {
  std::string text = "lathe " + command.verb();
  bool has_options = false;
  for (const auto& option : command.options()) {
    std::string more = option->is_repeatable ? "..." : "";
    if (option->is_positional()) {
      const std::string& name = option->name();
      text += " " + (option->is_required ? name : "[" + name + "]") + more;
    } else if (option->is_required) {
      text += fmt::format(" {} {}", option->names.front(), option->value);
    } else {
      has_options = true;
    }
  }
  return text + (has_options ? " [OPTION]..." : "");
}

std::string spelling_of(const Option& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  if (!option.is_positional() && !option.is_flag()) text += " " + option.value;
  return text;
}

std::string meaning_of(const Option& option) {
  std::string notes;
  auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : "; ") + note; };
  if (!option.accepts.shown.empty()) add(option.accepts.shown);
  if (!option.default_text.empty()) add("default: " + option.default_text);
  if (option.is_repeatable) add("may be given several times");
  return option.text + (notes.empty() ? "" : " (" + notes + ")");
}

const std::vector<std::string>& common_paragraphs() {
  static const std::vector<std::string> paragraphs = {
      "A NETWORK is the name of a built-in network, like resnet34, or an .onnx file, or a .graph "
      "file. 'lathe list models' shows the built-in networks.",
      "A NEST is an operator, like conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1), or a .nest file. "
      "'lathe list ops' shows the operators.",
      "A RECIPE is a sequence of steps, like 'split(co, 16) -> vectorize(co.i)'. 'lathe list "
      "transforms' shows the steps. A step on loop x acts on every statement in a loop of that "
      "name. A step on loop s:x acts on statement s alone.",
      "Exit status: 0 done, 1 a step was refused or nothing was found, 2 wrong input, 3 a bug of "
      "Lathe, 4 output that could not be written, 130 interrupted (Ctrl-C)."};
  return paragraphs;
}

std::string print_overview() {
  std::string text =
      "Lathe: a neural-network compiler that is allowed to change the network\n\n"
      "usage: lathe VERB ...\n\n";
  for (const Verb& verb : all()) text += fmt::format("  {:<13}{}\n", verb.name, verb.summary);
  text += "\n'lathe help VERB' explains a verb.\n";
  for (const std::string& paragraph : common_paragraphs()) {
    text += "\n" + wrapped(paragraph, 0, 0) + "\n";
  }
  return text;
}

std::string print_help(const Verb& verb) {
  Command command = syntax_of(verb);
  std::string text = fmt::format("lathe {}: {}\n\n", verb.name, verb.summary);
  text += wrapped("usage: " + usage_of(command), 7, 0) + "\n";
  std::string positionals, options;
  for (const auto& option : command.options()) {
    std::string row = print_row(spelling_of(*option), meaning_of(*option));
    (option->is_positional() ? positionals : options) += row;
  }
  if (!positionals.empty()) text += "\n" + positionals;
  text += "\noptions\n" + options + print_row("-h, --help", "print this help");
  if (!verb.example.empty()) text += "\nexample\n" + print_example(verb.example);
  return text;
}

}  // namespace lathe::cli
