// verb_completion.cpp: scripts that complete commands in shells. Interface: verb_help.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/verb_help.h"

namespace lathe::cli {
namespace {

/// What a shell offers where a value is expected.
struct Offer {
  std::vector<std::string> words;
  enum class Paths { none, files, folders } paths = Paths::none;
};

Offer offer_of(const Option& option) {
  Offer offer{option.accepts.words.empty() ? option.suggestions : option.accepts.words};
  auto mentions = [&](const char* word) { return option.value.find(word) != std::string::npos; };
  if (mentions("FOLDER")) offer.paths = Offer::Paths::folders;
  if (mentions("FILE") || mentions("NETWORK") || mentions("RECIPE") || mentions("NEST")) {
    offer.paths = Offer::Paths::files;
  }
  return offer;
}

/// Returns a text between single quotes, for any of the shells.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// bash

/// Returns the call that offers what fits an option.
std::string bash_offer(const Offer& offer) {
  const char* paths = offer.paths == Offer::Paths::files     ? "files"
                      : offer.paths == Offer::Paths::folders ? "folders"
                                                             : "none";
  return fmt::format("_lathe_offer {} {}", paths, quoted(joined(offer.words)));
}

/// Returns the lines of a verb: values of options by the word before, options, arguments.
std::string bash_verb(const Verb& verb) {
  Command command = syntax_of(verb);
  std::string values, arguments;
  std::vector<std::string> options{"--help"};
  for (const auto& option : command.options()) {
    std::string offer = bash_offer(offer_of(*option));
    if (option->is_positional()) {
      // The first argument's: a recipe behind it is written by hand.
      if (arguments.empty()) arguments = offer;
      continue;
    }
    options.push_back(option->name());
    if (option->is_flag()) continue;
    values += fmt::format("        {}) {}; return ;;\n", fmt::join(option->names, " | "), offer);
  }
  std::string text = fmt::format("    {})\n", verb.name);
  if (!values.empty()) text += fmt::format("      case $before in\n{}      esac\n", values);
  text += fmt::format("      options={}\n", quoted(joined(options)));
  if (!arguments.empty()) {
    text += fmt::format("      [[ $word == -* ]] || {{ {}; return; }}\n", arguments);
  }
  return text + "      ;;\n";
}

std::string print_bash() {
  std::string text = R"(# Completes commands of lathe in bash. 'lathe completion bash' prints this.
_lathe_offer() {
  mapfile -t COMPREPLY < <(
    compgen -W "$2" -- "$word"
    case $1 in
      files) compgen -f -- "$word" ;;
      folders) compgen -d -- "$word" ;;
    esac)
  [[ $1 == none ]] || compopt -o filenames 2>/dev/null
}

_lathe() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
)";
  text += fmt::format("    _lathe_offer none {}\n    return\n  fi\n",
                      quoted(joined(verb_names()) + " --help --version"));
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const Verb& verb : all()) text += bash_verb(verb);
  return text +
         "  esac\n"
         "  _lathe_offer none \"$options\"\n"
         "}\n\n"
         "complete -F _lathe lathe\n";
}

// zsh

/// Returns a text as _arguments takes it inside of brackets.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Returns what zsh does where a value is expected: ":FILE:_files".
std::string zsh_value(const Option& option) {
  Offer offer = offer_of(option);
  std::string words = joined(offer.words), action = "( )";
  if (offer.paths == Offer::Paths::files) action = "_files";
  if (offer.paths == Offer::Paths::folders) action = "_files -/";
  if (!words.empty() && offer.paths == Offer::Paths::none) action = "(" + words + ")";
  if (!words.empty() && offer.paths != Offer::Paths::none) {
    action = fmt::format("_alternative 'words:name:({})' 'files:file:{}'", words, action);
  }
  return fmt::format(":{}:{}", zsh_text(option.value), action);
}

std::string zsh_verb(const Verb& verb) {
  Command command = syntax_of(verb);
  std::string text = fmt::format("    {})\n      _arguments -S", verb.name);
  auto add = [&](const std::string& spec) { text += " \\\n        " + quoted(spec); };
  add("(-h --help)--help[print help]");
  size_t position = 0;
  for (const auto& option : command.options()) {
    if (option->is_positional()) {
      add(fmt::format("{}{}", ++position, zsh_value(*option)));
      continue;
    }
    for (const std::string& name : option->names) {
      bool is_long = name.starts_with("--");
      std::string value = option->is_flag() ? "" : zsh_value(*option);
      add(fmt::format("{}{}{}[{}]{}", option->is_repeatable ? "*" : "", name,
                      is_long && !option->is_flag() ? "=" : "", zsh_text(option->text), value));
    }
  }
  return text + "\n      ;;\n";
}

std::string print_zsh() {
  std::string text =
      "#compdef lathe\n"
      "# Completes commands of lathe in zsh. 'lathe completion zsh' prints this.\n"
      "_lathe() {\n"
      "  local -a verbs=(\n";
  for (const Verb& verb : all()) {
    text += fmt::format("    {}\n", quoted(verb.name + ":" + verb.summary));
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n";
  for (const Verb& verb : all()) text += zsh_verb(verb);
  return text +
         "  esac\n"
         "}\n\n"
         "if [[ $funcstack[1] == _lathe ]]; then _lathe \"$@\"; else compdef _lathe lathe; fi\n";
}

// fish

std::string fish_option(const Verb& verb, const Option& option) {
  std::string text =
      fmt::format("complete -c lathe -n '__fish_seen_subcommand_from {}'", verb.name);
  if (!option.is_positional()) {
    for (const std::string& name : option.names) {
      bool is_long = name.starts_with("--");
      text += fmt::format(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
    }
  }
  Offer offer = offer_of(option);
  bool has_paths = offer.paths != Offer::Paths::none;
  if (!option.is_flag()) {
    text += has_paths ? " -F" : "";
    if (!option.is_positional()) text += has_paths ? " -r" : " -x";
    if (!offer.words.empty()) text += " -a " + quoted(joined(offer.words));
  }
  return text + " -d " + quoted(option.text) + "\n";
}

std::string print_fish() {
  std::string text =
      "# Completes commands of lathe in fish. 'lathe completion fish' prints this.\n"
      "complete -c lathe -f\n"
      "complete -c lathe -s h -l help -d 'print help'\n";
  for (const Verb& verb : all()) {
    text += fmt::format("complete -c lathe -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                        quoted(verb.summary));
  }
  for (const Verb& verb : all()) {
    Command command = syntax_of(verb);
    for (const auto& option : command.options()) text += fish_option(verb, *option);
  }
  return text;
}

const std::map<std::string, std::string (*)()> printers = {
    {"bash", print_bash}, {"fish", print_fish}, {"zsh", print_zsh}};

}  // namespace

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& [shell, printer] : printers) names.push_back(shell);
  return names;
}

std::string print_completion(const std::string& shell) { return printers.at(shell)(); }

}  // namespace lathe::cli
