// What a verb takes, said once: parsing, help, errors, shell completion and man pages all read it.
//
//   std::function<int()> set_up_run(Command& app) {
//     auto options = std::make_shared<RunArgs>();
//     app.add_option("NETWORK", options->network, "the network to run")->required();
//     app.add_option("-o,--output FILE", options->file, "the file to write")->writes();
//     app.add_option("--threads", options->threads, "number of workers")->check(range(1, 256));
//     app.add_flag("--json", options->json, "print JSON, for machines");
//     return [options] { return run_given(*options); };
//   }
//
// An option takes one value each time it is given. One that is read into a vector may be given
// several times.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace lathe {

/// A command line that a verb does not take. Its message ends in how to get help.
class UsageError : public UserError {
 public:
  using UserError::UserError;
};

/// What a value may be.
struct Accepts {
  std::string shown;                              ///< "1 to 256", for help and errors
  std::vector<std::string> words;                 ///< all values, where they can be listed
  std::function<bool(const std::string&)> takes;  ///< is a value one of them?
};

/// Accepts numbers from "low" to "high".
Accepts range(double low, double high);
/// Accepts numbers above 0.
Accepts positive_number();
/// Accepts 0 and numbers above it.
Accepts non_negative_number();
/// Accepts these words only.
Accepts one_of(std::vector<std::string> words);

/// One thing that a verb takes: an option, a flag, or a positional argument.
struct Option {
  std::vector<std::string> names;  ///< "-o" and "--output"; of a positional argument "NETWORK"
  std::string value;               ///< what stands for its value in help: "FILE"; "" of a flag
  std::string text;                ///< what it is, in a few words
  std::string default_text;        ///< what is taken where it is left out; "" is not shown
  bool is_required = false, is_repeatable = false, is_output = false;
  Accepts accepts;
  std::vector<std::string> suggestions;  ///< values that shell completion offers
  std::vector<const Option*> excluded;   ///< options that cannot be given beside it
  size_t given = 0;                      ///< how often it was given
  /// Reads a value into the verb's variable. Returns whether it could be read.
  std::function<bool(const std::string&)> read;

  bool is_flag() const { return value.empty(); }
  bool is_positional() const { return names.front().front() != '-'; }
  /// Returns the long name, or the only one.
  const std::string& name() const { return names.back(); }

  /// Demands it.
  Option* required();
  /// No longer demands it.
  Option* optional();
  /// Lets it have these values only.
  Option* check(Accepts what);
  /// Refuses it beside another.
  Option* excludes(Option* other);
  /// Says what it is in other words.
  Option* description(std::string words);
  /// Says what is taken where it is left out.
  Option* otherwise(std::string words);
  /// Declares that its value names a file or folder to write. "-" and "" are refused.
  Option* writes();
  /// Offers these values in shell completion. Others may be given, too.
  Option* suggests(std::vector<std::string> words);
  /// Reads its value as bytes: 512M is 512 times 1024 times 1024.
  Option* as_bytes();
};

/// Reads a value of a command line; returns false if it is not of the type.
bool read_value(const std::string& text, std::string& value);
bool read_value(const std::string& text, int& value);
bool read_value(const std::string& text, unsigned& value);
bool read_value(const std::string& text, long& value);
bool read_value(const std::string& text, unsigned long& value);
bool read_value(const std::string& text, double& value);

/// Prints a default value; "" where there is none to show.
std::string print_default(const std::string& value);
std::string print_default(long value);
std::string print_default(unsigned long value);
std::string print_default(double value);

/// What one verb takes.
class Command {
 public:
  explicit Command(std::string verb) : verb_(std::move(verb)) {}

  /// Declares an option, "-o,--output FILE", or a positional argument, "NETWORK", that is read into
  /// "variable". What the variable holds now is the default.
  template <class T>
  Option* add_option(std::string_view names, T& variable, std::string text) {
    auto read = [&variable](const std::string& word) { return read_value(word, variable); };
    Option* option = add(names, kind_of<T>(), std::move(text), read);
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      option->default_text = print_default(static_cast<long>(variable));
    } else if constexpr (std::is_integral_v<T>) {
      option->default_text = print_default(static_cast<unsigned long>(variable));
    } else {
      option->default_text = print_default(variable);
    }
    return option;
  }

  /// Declares an option that may be left out, which is known afterwards.
  template <class T>
  Option* add_option(std::string_view names, std::optional<T>& variable, std::string text) {
    auto read = [&variable](const std::string& word) {
      T value{};
      if (!read_value(word, value)) return false;
      variable = value;
      return true;
    };
    return add(names, kind_of<T>(), std::move(text), read);
  }

  /// Declares an option that may be given several times, with one value each time.
  Option* add_option(std::string_view names, std::vector<std::string>& variable, std::string text);

  /// Declares a flag: "variable" becomes true where it is given, and false if the name is "!--x".
  Option* add_flag(std::string_view names, bool& variable, std::string text);

  /// Finds what was declared, by any of its names.
  Option* option(std::string_view name);

  /// Reads the words behind the verb. Throws a UsageError where they do not fit.
  void parse(const std::vector<std::string>& words);

  /// Did the words ask for help?
  bool wants_help() const { return wants_help_; }
  const std::string& verb() const { return verb_; }
  /// Returns everything that was declared, in order.
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }

 private:
  enum class Kind { text, whole, real };

  std::string verb_;
  std::vector<std::unique_ptr<Option>> options_;
  bool wants_help_ = false;

  template <class T>
  static constexpr Kind kind_of() {
    return std::is_floating_point_v<T> ? Kind::real
           : std::is_integral_v<T>     ? Kind::whole
                                       : Kind::text;
  }
  Option* add(std::string_view names, Kind kind, std::string text,
              std::function<bool(const std::string&)> read);
  void read_words(const std::vector<std::string>& words);
  size_t read_option(const std::vector<std::string>& words, size_t at);
  void read_positional(const std::string& word);
  void give(Option& option, const std::string& value);
  void check_complete() const;
};

}  // namespace lathe
