// npy_header.cpp: a recursive-descent parser of the dictionary that heads a NumPy file. Interface:
// npy_header.h.
#include "data/npy_header.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace lathe {
namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    expect('{');
    while (!accepts('}')) {
      std::string key = quoted();
      expect(':');
      field(key);
      if (accepts(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) malformed("the end of the header");
    for (std::string_view key : {"descr", "fortran_order", "shape"}) {
      if (!seen(key)) fail("'{}' has a malformed header: it lacks '{}'", path_, key);
    }
    return header_;
  }

 private:
  void field(const std::string& key) {
    if (seen(key)) fail("'{}' has a malformed header: it has '{}' twice", path_, key);
    seen_.push_back(key);
    if (key == "descr") {
      header_.type = type();
    } else if (key == "fortran_order") {
      header_.fortran_order = truth();
    } else if (key == "shape") {
      header_.shape = shape();
    } else {
      fail("'{}' has a malformed header: it has the unknown key '{}'", path_, key);
    }
  }

  bool seen(std::string_view key) const {
    return std::find(seen_.begin(), seen_.end(), key) != seen_.end();
  }

  std::string type() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(
          "'{}' holds records of several fields, which are not supported: save each field as an "
          "array of its own",
          path_);
    }
    return quoted();
  }

  bool truth() {
    skip_space();
    for (std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    malformed("True or False");
  }

  Shape shape() {
    Shape result;
    expect('(');
    while (!accepts(')')) {
      result.push_back(extent());
      if (result.size() > largest_npy_rank) {
        fail("'{}' has a shape of more than {} dimensions", path_, largest_npy_rank);
      }
      if (accepts(',')) continue;
      expect(')');
      break;
    }
    return result;
  }

  long extent() {
    skip_space();
    size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    long value = 0;
    size_t digits = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = std::min(10 * value + (text_[at_] - '0'), largest_npy_extent + 1);
    }
    if (at_ == digits) malformed("an integer");
    std::string_view number = text_.substr(start, std::min<size_t>(at_ - start, 40));
    if (number.front() == '-') {
      fail("'{}' has the dimension {} in its shape; none can be negative", path_, number);
    }
    if (value > largest_npy_extent) {
      fail("'{}' has the dimension {} in its shape, which is too large", path_, number);
    }
    accepts('L');  // Python 2 wrote long integers so
    return value;
  }

  std::string quoted() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) malformed("a string");
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) malformed("a string that ends");
    std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(result.substr(0, 100));
  }

  bool accepts(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accepts(c)) malformed(fmt::format("'{}'", c));
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  [[noreturn]] void malformed(std::string_view expected) const {
    fail("'{}' has a malformed header: {} is expected at its character {}", path_, expected,
         at_ + 1);
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  std::vector<std::string> seen_;
  NpyHeader header_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& path) {
  return HeaderParser(text, path).parse();
}

}  // namespace lathe
