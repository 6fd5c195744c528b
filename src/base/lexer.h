// Splits text into tokens and reads them one by one; errors name source, line and column. Shared by
// every text form: nests, recipes, operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lathe {

struct Token {
  enum class Kind { name, number, symbol, text, end };
  Kind kind;
  std::string text;     ///< of a quoted text, what is between the quotes
  size_t line, column;  ///< from 1
};

/// Reads "text". Names are letters, digits, '_' and inner dots ("co.o"); '#' starts a comment. In a
/// quoted text, '\\' keeps the next character as it is, and "\n" is the end of a line.
class Lexer {
 public:
  Lexer(std::string source, std::string_view text);

  const Token& peek() const { return tokens_[next_]; }
  Token take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
  bool at_end() const { return peek().kind == Token::Kind::end; }

  /// Is the next token this symbol or name? accept() also takes it if it is.
  bool sees(std::string_view text) const;
  bool accept(std::string_view text);

  /// Takes the next token. Fails unless it is what is asked for.
  void expect(std::string_view text);
  std::string expect_name(std::string_view what);
  std::string expect_text(std::string_view what);  ///< a name, or a quoted text
  long expect_integer(std::string_view what);
  double expect_number(std::string_view what);

  /// Returns the place of the next token; seek() goes back to such a place.
  size_t position() const { return next_; }
  void seek(size_t position) { next_ = position; }

  /// Throws a UserError at the next token.
  [[noreturn]] void fail_here(const std::string& message) const;

 private:
  std::string source_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
};

/// Returns a name as it is, and any other text in quotes.
std::string quoted_unless_name(std::string_view text);
/// Returns the text in quotes.
std::string quoted(std::string_view text);

}  // namespace lathe
