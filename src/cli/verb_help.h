// What Lathe says about its verbs: help for terminals, pages for man, completion for shells. All of
// it is made from what the verbs declare.
#pragma once

#include <string>

#include "cli/verb.h"

namespace lathe::cli {

/// Finds a verb by name. An unknown one is an error that says where they are listed.
const Verb& find_verb(const std::string& name);

/// Returns the names of all verbs, sorted.
std::vector<std::string> verb_names();

/// Returns what a verb takes.
Command syntax_of(const Verb& verb);

/// Returns how a verb is called: "lathe gate NETWORK [RECIPE] [OPTION]...".
std::string usage_of(const Command& command);

/// Returns how an option is written: "-o, --output FILE".
std::string spelling_of(const Option& option);

/// Returns what an option is, which values it takes and what it is where it is left out.
std::string meaning_of(const Option& option);

/// What all verbs share, a paragraph each.
const std::vector<std::string>& common_paragraphs();

/// Prints the verbs and what they share.
std::string print_overview();
/// Prints the help of a verb.
std::string print_help(const Verb& verb);

/// Prints the page of man about a verb, in roff.
std::string print_man(const Verb& verb);
/// Prints the page of man about Lathe.
std::string print_man_overview();

/// Returns the shells that completion is there for.
std::vector<std::string> shells();
/// Prints the script that completes commands in a shell.
std::string print_completion(const std::string& shell);

}  // namespace lathe::cli
