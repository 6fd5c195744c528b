// lexer.cpp: text to tokens. Interface: lexer.h.
#include "base/lexer.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/number.h"
#include "base/printable.h"

namespace lathe {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool in_name(char c) { return starts_name(c) || is_digit(c); }

size_t name_length(std::string_view text) {
  size_t n = 1;
  while (n < text.size() &&
         (in_name(text[n]) || (text[n] == '.' && n + 1 < text.size() && in_name(text[n + 1])))) {
    ++n;
  }
  return n;
}

/// Digits, a fraction and an exponent; nothing else may be glued to them.
size_t number_length(std::string_view text) {
  size_t n = 0;
  auto digits = [&] {
    while (n < text.size() && is_digit(text[n])) ++n;
  };
  digits();
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) {
    ++n;
    digits();
  }
  if (n + 1 < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    size_t sign = text[n + 1] == '-' || text[n + 1] == '+' ? 1 : 0;
    if (n + 1 + sign < text.size() && is_digit(text[n + 1 + sign])) {
      n += 1 + sign;
      digits();
    }
  }
  return n;
}

constexpr std::string_view long_symbols[] = {"->", "\u2192", "<=", ">=", "+=", "==", ".."};

size_t symbol_length(std::string_view text) {
  for (std::string_view symbol : long_symbols) {
    if (text.substr(0, symbol.size()) == symbol) return symbol.size();
  }
  return 1;
}

/// Returns the letter, in UTF-8, that \uNNNN at the beginning of "text" stands for; "" if there is
/// none.
std::string letter_of_code(std::string_view text) {
  constexpr size_t length = 6;
  unsigned code = 0;
  if (text.size() < length || !text.starts_with("\\u")) return "";
  auto [end, error] = std::from_chars(text.data() + 2, text.data() + length, code, 16);
  if (error != std::errc() || end != text.data() + length || code >= 0x800) return "";
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

/// Returns what the quotes at the beginning of "text" hold, and how far they reach; 0 if they do
/// not close.
std::pair<std::string, size_t> unquoted(std::string_view text) {
  std::string content;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return {content, i + 1};
    if (std::string letter = letter_of_code(text.substr(i)); !letter.empty()) {
      content += letter;
      i += 5;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      content += text[i] == 'n' ? '\n' : text[i];
    } else {
      content += text[i];
    }
  }
  return {"", 0};
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return printable(out) + "\"";
}

std::string quoted_unless_name(std::string_view text) {
  bool is_name = !text.empty() && starts_name(text[0]) && name_length(text) == text.size();
  return is_name ? std::string(text) : quoted(text);
}

Lexer::Lexer(std::string source, std::string_view text) : source_(std::move(source)) {
  size_t line = 1, line_start = 0, at = 0;
  auto add = [&](Token::Kind kind, size_t length) {
    tokens_.push_back({kind, std::string(text.substr(at, length)), line, at - line_start + 1});
    at += length;
  };
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n') {
      ++line;
      line_start = ++at;
    } else if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else if (starts_name(c)) {
      add(Token::Kind::name, name_length(text.substr(at)));
    } else if (is_digit(c)) {
      add(Token::Kind::number, number_length(text.substr(at)));
    } else if (c == '"') {
      auto [content, length] = unquoted(text.substr(at));
      tokens_.push_back({Token::Kind::text, content, line, at - line_start + 1});
      at += length;
      if (length == 0) {
        next_ = tokens_.size() - 1;
        fail_here("this quote does not close");
      }
    } else {
      add(Token::Kind::symbol, symbol_length(text.substr(at)));
    }
  }
  tokens_.push_back({Token::Kind::end, "the end", line, at - line_start + 1});
}

bool Lexer::sees(std::string_view text) const {
  bool is_word = peek().kind != Token::Kind::end && peek().kind != Token::Kind::text;
  return is_word && peek().text == text;
}

bool Lexer::accept(std::string_view text) {
  if (!sees(text)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail_here(fmt::format("expected '{}', found '{}'", text, peek().text));
}

std::string Lexer::expect_name(std::string_view what) {
  if (peek().kind != Token::Kind::name) {
    fail_here(fmt::format("expected {}, found '{}'", what, peek().text));
  }
  return take().text;
}

std::string Lexer::expect_text(std::string_view what) {
  return peek().kind == Token::Kind::text ? take().text : expect_name(what);
}

long Lexer::expect_integer(std::string_view what) {
  const std::string& text = peek().text;
  auto value = number_in<long>(text);
  if (peek().kind != Token::Kind::number || !value) {
    fail_here(fmt::format("expected {}, found '{}'", what, text));
  }
  take();
  return *value;
}

double Lexer::expect_number(std::string_view what) {
  bool negative = accept("-");
  double value = 0;
  if (accept("inf")) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const std::string& text = peek().text;
    auto number = number_in<double>(text);
    if (peek().kind != Token::Kind::number || !number) {
      fail_here(fmt::format("expected {}, found '{}'", what, text));
    }
    value = *number;
    take();
  }
  return negative ? -value : value;
}

void Lexer::fail_here(const std::string& message) const {
  const Token& token = peek();
  throw UserError(fmt::format("{}:{}:{}: {}", source_, token.line, token.column, message));
}

}  // namespace lathe
