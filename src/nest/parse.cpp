// parse.cpp: text to Nest. Interface: parse_nest() of text.h.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/lexer.h"
#include "nest/dependence.h"
#include "nest/text.h"

namespace lathe {
namespace {

constexpr long max_extent = 1L << 30;

/// Reads quasi-affine expressions of named coordinates.
class IndexParser {
 public:
  IndexParser(Lexer& lexer, isl::space space, const std::vector<std::string>& dims)
      : lexer_(lexer), space_(std::move(space)), dims_(dims) {}

  isl::aff sum() {
    isl::aff result = product();
    while (lexer_.sees("+") || lexer_.sees("-")) {
      bool minus = lexer_.take().text == "-";
      isl::aff next = product();
      result = result.add(minus ? next.neg() : next);
    }
    return result;
  }

 private:
  Lexer& lexer_;
  isl::space space_;
  const std::vector<std::string>& dims_;

  isl::aff product() {
    isl::aff result = factor();
    while (lexer_.sees("*") || lexer_.sees("/") || lexer_.sees("%")) {
      std::string symbol = lexer_.take().text;
      isl::aff right = factor();
      if (symbol == "*" && result.is_cst()) std::swap(result, right);
      if (!right.is_cst()) lexer_.fail_here("one side of '" + symbol + "' must be a constant");
      long constant = poly::take_apart(right).constant;
      if (symbol != "*" && constant < 1) lexer_.fail_here("the divisor must be positive");
      result = symbol == "*"   ? result.scale(constant)
               : symbol == "/" ? poly::quotient(result, constant)
                               : poly::remainder(result, constant);
    }
    return result;
  }

  isl::aff factor() {
    if (lexer_.accept("-")) return factor().neg();
    if (lexer_.accept("(")) {
      isl::aff inner = sum();
      lexer_.expect(")");
      return inner;
    }
    if (lexer_.peek().kind == Token::Kind::number) {
      return poly::constant(space_, lexer_.expect_integer("an integer"));
    }
    auto found = std::find(dims_.begin(), dims_.end(), lexer_.peek().text);
    if (found == dims_.end()) {
      lexer_.fail_here(fmt::format("'{}' is no coordinate of this statement; there are: {}",
                                   lexer_.peek().text, fmt::join(dims_, " ")));
    }
    lexer_.take();
    return poly::coordinate(space_, static_cast<size_t>(found - dims_.begin()));
  }
};

/// A loop's header in the schedule; its definitions are parsed once its statements are known.
struct Header {
  std::string name;
  std::vector<size_t> definitions;  // positions in the text; none: the coordinate of that name
  size_t statements = 0;            // how many were placed inside so far
  Mark mark = Mark::serial;
  std::vector<Prefetch> prefetches;
};

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
      order_.resize(statements_.size());
      placed_.resize(statements_.size(), false);
      parse_places(0, {});
      for (size_t s = 0; s < statements_.size(); ++s) {
        if (!placed_[s])
          lexer_.fail_here("the schedule lacks statement '" + statements_[s].name + "'");
      }
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

  /// Parses what stands after "where" alone.
  isl::set parse_constraints(const std::vector<long>& extents, std::vector<std::string> dims) {
    Statement s;
    s.dims = std::move(dims);
    s.domain = poly::box(ctx_, extents);
    return parse_pieces(s);
  }

 private:
  isl::ctx ctx_;
  Lexer lexer_;
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Order> order_;
  std::vector<bool> placed_;
  std::vector<Header> headers_;  // the loops that are open

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
                               {"local", Role::local}},
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
    if (lexer_.accept("where")) s.domain = parse_pieces(s);
  }

  isl::set parse_pieces(const Statement& s) {
    isl::set result = parse_piece(s, s.domain);
    while (lexer_.accept("or")) result = result.unite(parse_piece(s, s.domain));
    if (result.is_empty()) lexer_.fail_here("no instance satisfies these constraints");
    return poly::boxed(result);
  }

  std::string parse_comparison() {
    for (const char* symbol : {"<", "<=", "=", ">=", ">"}) {
      if (lexer_.accept(symbol)) return symbol;
    }
    lexer_.fail_here(
        fmt::format("a constraint needs <, <=, =, >= or >, not '{}'", lexer_.peek().text));
  }

  isl::set parse_piece(const Statement& s, isl::set piece) {
    do {
      isl::aff left = parse_index(s);
      std::string symbol = parse_comparison();
      isl::aff right = parse_index(s);
      if (symbol == "<")
        piece = piece.intersect(left.lt_set(right));
      else if (symbol == "<=")
        piece = piece.intersect(left.le_set(right));
      else if (symbol == ">")
        piece = piece.intersect(left.gt_set(right));
      else if (symbol == ">=")
        piece = piece.intersect(left.ge_set(right));
      else
        piece = piece.intersect(left.eq_set(right));
    } while (lexer_.accept(","));
    return piece;
  }

  Origin parse_origin(const Statement& s) {
    if (!lexer_.accept("from")) return {s.name, poly::identity(s.domain.space())};
    std::string name = lexer_.expect_name("the original statement's name");
    return {name, parse_tuple(s)};
  }

  isl::aff parse_index(const Statement& s) {
    return IndexParser(lexer_, s.domain.space(), s.dims).sum();
  }

  isl::multi_aff parse_tuple(const Statement& s) { return parse_tuple(s.domain.space(), s.dims); }

  isl::multi_aff parse_tuple(const isl::space& space, const std::vector<std::string>& dims) {
    std::vector<isl::aff> parts;
    lexer_.expect("[");
    while (!lexer_.sees("]")) {
      parts.push_back(IndexParser(lexer_, space, dims).sum());
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    return poly::tuple(space, parts);
  }

  Access parse_access(const Statement& s) {
    const std::string& name = lexer_.peek().text;
    auto found = std::find_if(tensors_.begin(), tensors_.end(),
                              [&](const Tensor& t) { return t.name == name; });
    if (found == tensors_.end()) lexer_.fail_here("no tensor '" + name + "' is declared");
    lexer_.take();
    return {static_cast<size_t>(found - tensors_.begin()), parse_tuple(s)};
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

  /// Parses what stands further right than "column": loops and statements, in sequence.
  void parse_places(size_t column, std::vector<long> at) {
    at.push_back(0);
    while (!lexer_.at_end() && lexer_.peek().column > column) {
      if (lexer_.sees("for")) {
        parse_loops(at);
      } else {
        place_statement(at);
      }
      ++at.back();
    }
    if (at.back() == 0) lexer_.fail_here("expected a loop or a statement, further right");
  }

  void parse_loops(std::vector<long> at) {
    size_t column = lexer_.peek().column, line = lexer_.peek().line, opened = 0;
    lexer_.expect("for");
    do {
      headers_.push_back(parse_header());
      ++opened;
    } while (lexer_.accept(","));
    lexer_.expect(":");
    at.insert(at.end(), opened - 1, 0);
    bool same_line = lexer_.peek().line == line;
    std::vector<bool> before = placed_;
    parse_places(same_line ? lexer_.peek().column - 1 : column, at);
    for (size_t depth = headers_.size() - opened; depth < headers_.size(); ++depth) {
      share_extent(before, depth);
    }
    headers_.resize(headers_.size() - opened);
  }

  /// Gives loop "depth" of all statements placed since "before" the extent that suits them all.
  void share_extent(const std::vector<bool>& before, size_t depth) {
    std::vector<size_t> inside;
    long extent = 0;
    for (size_t s = 0; s < placed_.size(); ++s) {
      if (!placed_[s] || before[s]) continue;
      inside.push_back(s);
      extent = std::max(extent, order_[s].loops[depth].extent);
    }
    for (size_t s : inside) {
      Order& order = order_[s];
      if (order.loops[depth].extent == extent) continue;
      order.within = iterations(statements_[s], order);
      order.loops[depth].extent = extent;
    }
  }

  Header parse_header() {
    Header header;
    header.name = lexer_.expect_name("a loop");
    if (lexer_.accept("=")) {
      do {
        header.definitions.push_back(lexer_.position());
        skip_definition();
      } while (lexer_.accept("|"));
    }
    if (auto mark = mark_named(lexer_.peek().text)) {
      lexer_.take();
      header.mark = *mark;
    }
    while (lexer_.accept("prefetch")) header.prefetches.push_back(parse_prefetch());
    return header;
  }

  void skip_definition() {
    auto ends = [&] {
      return lexer_.at_end() || lexer_.sees(",") || lexer_.sees(":") || lexer_.sees("|") ||
             lexer_.sees("prefetch") || mark_named(lexer_.peek().text);
    };
    while (!ends()) lexer_.take();
  }

  Prefetch parse_prefetch() {
    lexer_.expect("(");
    std::string name = lexer_.expect_name("a tensor");
    auto found = std::find_if(tensors_.begin(), tensors_.end(),
                              [&](const Tensor& t) { return t.name == name; });
    if (found == tensors_.end()) lexer_.fail_here("no tensor '" + name + "' is declared");
    lexer_.expect(",");
    long distance = lexer_.expect_integer("a distance");
    lexer_.expect(")");
    return {static_cast<size_t>(found - tensors_.begin()), distance};
  }

  void place_statement(const std::vector<long>& at) {
    std::string name = lexer_.peek().text;
    auto found = std::find_if(statements_.begin(), statements_.end(),
                              [&](const Statement& s) { return s.name == name; });
    if (found == statements_.end()) lexer_.fail_here("no statement '" + name + "' is declared");
    auto index = static_cast<size_t>(found - statements_.begin());
    if (placed_[index]) lexer_.fail_here("statement '" + name + "' is scheduled twice");
    lexer_.take();
    placed_[index] = true;
    order_[index].at = at;
    size_t resume = lexer_.position();
    for (Header& header : headers_) order_[index].loops.push_back(parse_loop(*found, header));
    lexer_.seek(resume);
    order_[index].instance = parse_instance(*found, order_[index].loops);
    check_instance(*found, order_[index]);
  }

  Loop parse_loop(const Statement& s, Header& header) {
    Loop loop{header.name, 0, {}, header.mark, header.prefetches};
    size_t which = header.statements++;
    if (header.definitions.empty()) {
      auto found = std::find(s.dims.begin(), s.dims.end(), header.name);
      if (found == s.dims.end()) {
        lexer_.fail_here(
            fmt::format("loop '{}' needs a definition: statement '{}' has no such coordinate",
                        header.name, s.name));
      }
      loop.value = poly::coordinate(s.domain.space(), static_cast<size_t>(found - s.dims.begin()));
    } else {
      lexer_.seek(header.definitions[std::min(which, header.definitions.size() - 1)]);
      loop.value = parse_index(s);
    }
    poly::Interval reach = poly::range(s.domain, loop.value);
    if (reach.lower < 0) {
      lexer_.fail_here(
          fmt::format("loop '{}' would start at {}; loops count from 0", loop.name, reach.lower));
    }
    loop.extent = reach.upper + 1;
    return loop;
  }

  /// Reads the instance as a function of the loops, if it is given, or finds it.
  isl::multi_aff parse_instance(const Statement& s, const std::vector<Loop>& loops) {
    if (lexer_.sees("[")) {
      std::vector<std::string> names;
      for (const Loop& loop : loops) names.push_back(loop.name);
      isl::multi_aff given = parse_tuple(poly::tuples(ctx_, loops.size()), names);
      if (given.size() != s.dims.size()) {
        lexer_.fail_here(fmt::format("'{}' has {} coordinates", s.name, s.dims.size()));
      }
      return given;
    }
    if (auto found = inverse(s, loops)) return *found;
    fail(
        "schedule: the loops around '{}' do not tell its instances apart: every coordinate "
        "({}) needs a loop, or loops x / c and x % c",
        s.name, fmt::join(s.dims, " "));
  }

  /// Notes which iterations are instances, and makes sure that these are found from them.
  void check_instance(const Statement& s, Order& order) {
    isl::space space = s.domain.space();
    std::vector<isl::aff> values;
    for (const Loop& loop : order.loops) values.push_back(loop.value);
    isl::multi_aff times = poly::tuple(space, values);
    isl::multi_aff there_and_back = order.instance.pullback(times);
    isl::set right = s.domain;
    for (size_t i = 0; i < s.dims.size(); ++i) {
      isl::aff back = there_and_back.at(static_cast<int>(i));
      right = right.intersect(back.eq_set(poly::coordinate(space, i)));
    }
    if (!s.domain.is_subset(right)) {
      lexer_.fail_here(
          fmt::format("this is not the instance of '{}' that the loops count", s.name));
    }
    isl::set exact = s.domain.apply(times.as_map());
    if (!iterations(s, order).is_equal(exact)) order.within = exact;
  }
};

}  // namespace

isl::set parse_constraints(isl::ctx ctx, std::string_view text, const std::vector<long>& extents,
                           const std::vector<std::string>& dims) {
  return NestParser(ctx, text, "constraints").parse_constraints(extents, dims);
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
