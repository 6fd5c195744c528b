// verb_command.cpp: the words of a command line. Interface: verb_command.h.
#include "cli/verb_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/nearest.h"
#include "base/number.h"

namespace lathe {
namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
bool read_number(const std::string& text, T& value) {
  std::optional<T> number = number_in<T>(text);
  if (number) value = *number;
  return number.has_value();
}

/// Splits "-o,--output FILE" into names and what stands for the value.
void set_names(Option& option, std::string_view names) {
  size_t space = names.find(' ');
  if (space != std::string_view::npos) option.value = names.substr(space + 1);
  names = names.substr(0, space);
  for (size_t comma; (comma = names.find(',')) != std::string_view::npos;) {
    option.names.emplace_back(names.substr(0, comma));
    names = names.substr(comma + 1);
  }
  option.names.emplace_back(names);
}

/// Returns what follows an unknown option: the one that may have been meant.
std::string suggestion(const Command& command, const std::string& unknown) {
  constexpr size_t most = 2;  // more letters make another word
  std::string best;
  size_t least = most + 1;
  for (const auto& option : command.options()) {
    if (option->is_positional()) continue;
    size_t letters = edit_distance(option->name(), unknown);
    bool begins = option->name().starts_with(unknown) && unknown.size() > 3;
    if (begins) letters = std::min(letters, most);
    if (letters < least) {
      least = letters;
      best = option->name();
    }
  }
  return best.empty() ? "" : fmt::format("; is it {}?", best);
}

/// Returns the bytes that a text says, as digits: "1k" is "1024". Other texts are left alone.
std::string bytes_in(const std::string& text) {
  size_t unit = text.find_first_not_of("0123456789");
  if (unit == std::string::npos || unit == 0) return text;
  constexpr std::string_view units = "kMGT";
  std::string_view rest = std::string_view(text).substr(unit);
  if (rest.ends_with("B")) rest.remove_suffix(1);
  if (rest.ends_with("i")) rest.remove_suffix(1);
  size_t power = rest.empty() ? 0 : units.find(rest.front() == 'K' ? 'k' : rest.front()) + 1;
  bool known = rest.empty() || (rest.size() == 1 && power > 0);
  auto number = number_in<long>(std::string_view(text).substr(0, unit));
  if (!known || !number) return text;
  for (size_t i = 0; i < power; ++i) {
    if (*number > std::numeric_limits<long>::max() / 1024) return text;
    *number *= 1024;
  }
  return std::to_string(*number);
}

std::string in_quotes(const std::string& word) {
  bool plain = !word.empty() && word.find_first_of(" \t\n'\"") == std::string::npos;
  return plain ? word : "'" + word + "'";
}

}  // namespace

Accepts range(double low, double high) {
  return {fmt::format("{} to {}", low, high), {}, [=](const std::string& text) {
            auto number = number_in<double>(text);
            return number && *number >= low && *number <= high;
          }};
}

Accepts positive_number() {
  return {"above 0", {}, [](const std::string& text) {
            auto number = number_in<double>(text);
            return number && *number > 0;
          }};
}

Accepts non_negative_number() {
  return {"0 or more", {}, [](const std::string& text) {
            auto number = number_in<double>(text);
            return number && *number >= 0;
          }};
}

Accepts one_of(std::vector<std::string> words) {
  std::string shown;
  for (size_t i = 0; i < words.size(); ++i) {
    shown += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  auto takes = [words](const std::string& text) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  return {shown, words, takes};
}

Option* Option::required() {
  is_required = true;
  return this;
}

Option* Option::optional() {
  is_required = false;
  return this;
}

Option* Option::check(Accepts what) {
  accepts = std::move(what);
  return this;
}

Option* Option::excludes(Option* other) {
  excluded.push_back(other);
  return this;
}

Option* Option::description(std::string words) {
  text = std::move(words);
  return this;
}

Option* Option::otherwise(std::string words) {
  default_text = std::move(words);
  return this;
}

Option* Option::writes() {
  is_output = true;
  return this;
}

Option* Option::suggests(std::vector<std::string> words) {
  suggestions = std::move(words);
  return this;
}

Option* Option::as_bytes() {
  value = "BYTES";
  read = [plain = read](const std::string& word) {
    std::string bytes = bytes_in(word);
    return bytes != "0" && plain(bytes);
  };
  return this;
}

bool read_value(const std::string& text, std::string& value) {
  value = text;
  return true;
}
bool read_value(const std::string& text, int& value) { return read_number(text, value); }
bool read_value(const std::string& text, unsigned& value) { return read_number(text, value); }
bool read_value(const std::string& text, long& value) { return read_number(text, value); }
bool read_value(const std::string& text, unsigned long& value) { return read_number(text, value); }
bool read_value(const std::string& text, double& value) {
  return read_number(text, value) && !std::isnan(value);
}

std::string print_default(const std::string& value) { return value; }
std::string print_default(long value) {
  return value == std::numeric_limits<long>::max() ? "" : std::to_string(value);
}
std::string print_default(unsigned long value) { return std::to_string(value); }
std::string print_default(double value) {
  return std::isfinite(value) && value < std::numeric_limits<double>::max()
             ? fmt::format("{}", value)
             : "";
}

Option* Command::add(std::string_view names, Kind kind, std::string text,
                     std::function<bool(const std::string&)> read) {
  auto option = std::make_unique<Option>();
  option->value = kind == Kind::whole ? "N" : kind == Kind::real ? "X" : "TEXT";
  set_names(*option, names);
  if (option->is_positional()) option->value = option->name();
  option->text = std::move(text);
  option->read = std::move(read);
  options_.push_back(std::move(option));
  return options_.back().get();
}

Option* Command::add_option(std::string_view names, std::vector<std::string>& variable,
                            std::string text) {
  Option* option = add(names, Kind::text, std::move(text), [&variable](const std::string& word) {
    variable.push_back(word);
    return true;
  });
  option->is_repeatable = true;
  return option;
}

Option* Command::add_flag(std::string_view names, bool& variable, std::string text) {
  bool meaning = !names.starts_with('!');
  if (!meaning) names.remove_prefix(1);
  Option* option =
      add(names, Kind::text, std::move(text), [&variable, meaning](const std::string&) {
        variable = meaning;
        return true;
      });
  option->value.clear();
  return option;
}

Option* Command::option(std::string_view name) {
  for (const auto& option : options_) {
    if (std::find(option->names.begin(), option->names.end(), name) != option->names.end()) {
      return option.get();
    }
  }
  return nullptr;
}

void Command::give(Option& option, const std::string& value) {
  if (option.given > 0 && !option.is_repeatable && !option.is_flag()) {
    refuse("{} is given twice", option.name());
  }
  if (option.is_output && (value.empty() || value == "-" || value.ends_with("=-"))) {
    refuse("{} {}: name a file or a folder; this cannot be written to standard output",
           option.name(), in_quotes(value));
  }
  const Accepts& accepts = option.accepts;
  if (!option.is_flag() && accepts.takes && !accepts.takes(value)) {
    bool words = !accepts.words.empty();
    refuse("{} {}: {} {}", option.name(), in_quotes(value), words ? "it is" : "it is a number,",
           accepts.shown);
  }
  if (!option.read(value)) {
    refuse("{} {}: it is a number{}{}", option.name(), in_quotes(value),
           option.value == "N" ? " without a fraction" : "",
           option.value == "BYTES" ? " of bytes, like 512M or 2G" : "");
  }
  ++option.given;
}

size_t Command::read_option(const std::vector<std::string>& words, size_t at) {
  const std::string& word = words[at];
  bool is_short = word[1] != '-';
  size_t end = is_short ? 2 : std::min(word.find('='), word.size());
  std::string name = word.substr(0, end);
  Option* found = option(name);
  if (found == nullptr) {
    if (is_short) name = word;
    refuse("there is no option {}{}", in_quotes(name), suggestion(*this, name));
  }
  if (found->is_flag()) {
    if (end < word.size()) refuse("{} takes no value", found->name());
    give(*found, "");
    return at + 1;
  }
  if (end < word.size()) {
    give(*found, word.substr(is_short ? end : end + 1));
    return at + 1;
  }
  if (at + 1 == words.size() || words[at + 1].starts_with("--")) {
    refuse("{} lacks its value: {} {}", name, name, found->value);
  }
  give(*found, words[at + 1]);
  return at + 2;
}

void Command::read_positional(const std::string& word) {
  for (const auto& option : options_) {
    if (option->is_positional() && (option->given == 0 || option->is_repeatable)) {
      return give(*option, word);
    }
  }
  refuse("{} is one word too many", in_quotes(word));
}

void Command::read_words(const std::vector<std::string>& words) {
  bool only_positionals = false;
  for (size_t at = 0; at < words.size();) {
    const std::string& word = words[at];
    if (only_positionals || word.size() < 2 || word[0] != '-') {
      read_positional(word);
      ++at;
    } else if (word == "--") {
      only_positionals = true;
      ++at;
    } else {
      at = read_option(words, at);
    }
  }
}

void Command::check_complete() const {
  for (const auto& option : options_) {
    if (option->is_required && option->given == 0) {
      refuse("{}{} is missing: {}", option->name(),
             option->is_positional() ? "" : " " + option->value, option->text);
    }
    for (const Option* other : option->excluded) {
      if (option->given > 0 && other->given > 0) {
        refuse("{} and {} exclude each other", option->name(), other->name());
      }
    }
  }
}

void Command::parse(const std::vector<std::string>& words) {
  // Who asks for help gets it, whatever else is said.
  auto end = std::find(words.begin(), words.end(), "--");
  wants_help_ = std::any_of(words.begin(), end,
                            [](const auto& word) { return word == "-h" || word == "--help"; });
  if (wants_help_) return;
  read_words(words);
  check_complete();
}

}  // namespace lathe
