// parse.cpp: text to Nest: tensors and statements. Interface: parse_nest() of text.h. Indices and
// the schedule are read by parse_index.cpp and parse_schedule.cpp.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/lexer.h"
#include "nest/dependence.h"
#include "nest/parse_parts.h"
#include "nest/text.h"

namespace lathe {
namespace {

constexpr long max_extent = 1L << 30;

class NestParser {
 public:
  NestParser(isl::ctx ctx, std::string_view text, const std::string& source)
      : ctx_(ctx), lexer_(source, text) {}

  Nest parse() {
    lexer_.expect("nest");
    std::string name = lexer_.expect_name("a name for the nest");
    while (lexer_.sees("tensor")) tensors_.push_back(parse_tensor());
    while (lexer_.sees("statement")) statements_.push_back(parse_statement());
    if (statements_.empty()) lexer_.fail_here("expected a tensor or a statement");
    if (lexer_.accept("schedule")) {
      lexer_.expect(":");
      order_ = parse_schedule(lexer_, tensors_, statements_);
    } else {
      for (const Statement& s : statements_) {
        order_.push_back(plain_order(s, {static_cast<long>(order_.size())}));
      }
    }
    if (!lexer_.at_end()) lexer_.fail_here("unexpected '" + lexer_.peek().text + "'");
    Nest nest = make_nest(name, tensors_, statements_, order_);
    if (auto violation = judge_order(nest).violation) {
      fail("schedule: {}; {}", explain(*violation, nest), witness(*violation, nest));
    }
    return nest;
  }

 private:
  isl::ctx ctx_;
  Lexer lexer_;
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Order> order_;

  template <class T>
  T parse_word(const std::map<std::string, T>& words, std::string_view what) {
    auto found = words.find(lexer_.peek().text);
    if (found == words.end()) {
      std::string known;
      for (const auto& [word, value] : words) known += (known.empty() ? "" : ", ") + word;
      lexer_.fail_here(
          fmt::format("expected {} ({}), found '{}'", what, known, lexer_.peek().text));
    }
    lexer_.take();
    return found->second;
  }

  std::vector<long> parse_integers(std::string_view what) {
    std::vector<long> result;
    lexer_.expect("[");
    while (!lexer_.sees("]")) {
      result.push_back(lexer_.expect_integer(what));
      if (result.back() > max_extent) lexer_.fail_here("that is too large");
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    return result;
  }

  /// Reads [0, 1, 2:3]: none, 1 on either side, 2 before and 3 after.
  std::vector<Pad> parse_pads() {
    std::vector<Pad> pads;
    lexer_.expect("[");
    while (!lexer_.sees("]")) {
      Pad pad;
      pad.before = pad.after = parse_padding();
      if (lexer_.accept(":")) pad.after = parse_padding();
      pads.push_back(pad);
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    return pads;
  }

  std::vector<double> parse_values() {
    std::vector<double> values;
    lexer_.expect("=");
    lexer_.expect("[");
    while (!lexer_.sees("]")) {
      values.push_back(lexer_.expect_number("a value of the constant"));
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    return values;
  }

  long parse_padding() {
    long n = lexer_.expect_integer("a number of padding elements");
    if (n > max_extent) lexer_.fail_here("that is too large");
    return n;
  }

  Tensor parse_tensor() {
    lexer_.expect("tensor");
    Tensor t;
    t.name = lexer_.expect_name("the tensor's name");
    lexer_.expect(":");
    t.role = parse_word<Role>({{"input", Role::input},
                               {"weight", Role::weight},
                               {"output", Role::output},
                               {"local", Role::local},
                               {"constant", Role::constant}},
                              "a role");
    std::map<std::string, Element> elements;
    for (Element element : all_elements()) {
      if (element != Element::string) elements.emplace(name_of(element), element);
    }
    t.element = parse_word(elements, "an element type");
    t.shape = parse_integers("an extent");
    t.pad.resize(t.shape.size());
    if (lexer_.accept("pad")) {
      t.pad = parse_pads();
      if (t.pad.size() != t.shape.size()) lexer_.fail_here("pad needs one number per dimension");
      if (lexer_.accept("with")) t.padding = lexer_.expect_number("the padding's value");
    }
    if (t.role == Role::local && lexer_.accept("in")) {
      t.space = parse_word<Space>(
          {{"global", Space::global}, {"shared", Space::shared}, {"private", Space::privately}},
          "a space");
    }
    if (t.role == Role::constant) t.values = parse_values();
    return t;
  }

  Statement parse_statement() {
    lexer_.expect("statement");
    Statement s;
    s.name = lexer_.expect_name("the statement's name");
    parse_domain(s);
    s.origin = parse_origin(s);
    lexer_.expect(":");
    s.write = parse_access(s);
    if (lexer_.accept("max")) {
      lexer_.expect("=");
      s.update = Update::maximum;
    } else if (lexer_.accept("+=")) {
      s.update = Update::add;
    } else {
      lexer_.expect("=");
    }
    s.value = parse_expr(lexer_, [&] { return parse_read(s); });
    return s;
  }

  void parse_domain(Statement& s) {
    std::vector<long> extents;
    lexer_.expect("[");
    while (!lexer_.sees("]")) {
      s.dims.push_back(lexer_.expect_name("a coordinate"));
      if (std::count(s.dims.begin(), s.dims.end(), s.dims.back()) > 1) {
        lexer_.fail_here("coordinate '" + s.dims.back() + "' appears twice");
      }
      lexer_.expect("<");
      extents.push_back(lexer_.expect_integer("an extent"));
      if (extents.back() < 1 || extents.back() > max_extent) {
        lexer_.fail_here(fmt::format("an extent must be between 1 and {}", max_extent));
      }
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    s.domain = poly::box(ctx_, extents);
    if (lexer_.accept("where")) s.domain = parse_constraints(lexer_, s.domain, s.dims);
  }

  Origin parse_origin(const Statement& s) {
    if (lexer_.accept("added")) {
      bool is_plain = !lexer_.sees("[");
      return {"", is_plain ? poly::identity(s.domain.space())
                           : parse_tuple(lexer_, s.domain.space(), s.dims)};
    }
    if (!lexer_.accept("from")) return {s.name, poly::identity(s.domain.space())};
    std::string name = lexer_.expect_name("the original statement's name");
    return {name, parse_tuple(lexer_, s.domain.space(), s.dims)};
  }

  Access parse_access(const Statement& s) {
    size_t tensor = parse_tensor_name(lexer_, tensors_);
    return {tensor, parse_tuple(lexer_, s.domain.space(), s.dims)};
  }

  /// Reads an element; the same element read twice is one read.
  Expr parse_read(Statement& s) {
    Access access = parse_access(s);
    for (size_t i = 0; i < s.reads.size(); ++i) {
      bool known = s.reads[i].tensor == access.tensor && s.reads[i].at.plain_is_equal(access.at);
      if (known) return read(i);
    }
    s.reads.push_back(std::move(access));
    return read(s.reads.size() - 1);
  }
};

}  // namespace

size_t parse_tensor_name(Lexer& lexer, const std::vector<Tensor>& tensors) {
  const std::string& name = lexer.peek().text;
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  if (found == tensors.end()) lexer.fail_here("no tensor '" + name + "' is declared");
  lexer.take();
  return static_cast<size_t>(found - tensors.begin());
}

Nest parse_nest(isl::ctx ctx, std::string_view text, const std::string& source) {
  try {
    return NestParser(ctx, text, source).parse();
  } catch (const UserError& error) {
    std::string message = error.what();
    if (message.starts_with(source + ":")) throw;
    throw UserError(fmt::format("{}: {}", source, message));
  }
}

}  // namespace lathe
