// verb_man.cpp: pages for man, in roff. Interface: verb_help.h.
#include <fmt/format.h>

#include <algorithm>

#include "cli/verb_help.h"
#include "compile/embedded.h"

namespace lathe::cli {
namespace {

/// Returns text as roff takes it: no letter of it is a command.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  bool is_command = out.starts_with('.') || out.starts_with('\'');
  return is_command ? "\\&" + out : out;
}

std::string print_head(const std::string& page, const std::string& summary) {
  std::string title = page;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"lathe {}\" \"Lathe\"\n.SH NAME\n{} \\- {}\n", escaped(title),
                     lathe_version(), escaped(page), escaped(summary));
}

std::string print_item(const std::string& head, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(head), escaped(text));
}

std::string print_synopsis(const std::string& usage) {
  return fmt::format(".SH SYNOPSIS\n.nh\n.ad l\n{}\n.ad\n.hy\n", escaped(usage));
}

}  // namespace

std::string print_man(const Verb& verb) {
  Command command = syntax_of(verb);
  std::string text = print_head("lathe-" + verb.name, verb.summary);
  text += print_synopsis(usage_of(command));
  std::string positionals, options;
  for (const auto& option : command.options()) {
    std::string item = print_item(spelling_of(*option), meaning_of(*option));
    (option->is_positional() ? positionals : options) += item;
  }
  if (!positionals.empty()) text += ".SH ARGUMENTS\n" + positionals;
  text += ".SH OPTIONS\n" + options + print_item("-h, --help", "print a summary of this page");
  text += fmt::format(".SH EXAMPLE\n.nf\n{}\n.fi\n", escaped(verb.example));
  return text + ".SH SEE ALSO\n.BR lathe (1)\n";
}

std::string print_man_overview() {
  std::string text =
      print_head("lathe", "a neural-network compiler that is allowed to change the network");
  text += print_synopsis("lathe VERB ...");
  text += ".SH VERBS\n";
  for (const Verb& verb : all()) text += print_item(verb.name, verb.summary);
  text += ".SH DESCRIPTION\n";
  for (const std::string& paragraph : common_paragraphs()) {
    text += ".PP\n" + escaped(paragraph) + "\n";
  }
  text += ".SH SEE ALSO\n";
  for (const Verb& verb : all()) {
    bool last = &verb == &all().back();
    text += fmt::format(".BR lathe\\-{} (1){}\n", verb.name, last ? "" : ",");
  }
  return text;
}

}  // namespace lathe::cli
