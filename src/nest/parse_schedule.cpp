// parse_schedule.cpp: the schedule of the text form. Interface: parse_schedule() of parse_parts.h.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "nest/parse_parts.h"

namespace lathe {
namespace {

/// A loop's header in the schedule; its definitions are parsed once its statements are known.
struct Header {
  std::string name;
  std::vector<size_t> definitions;  // positions in the text; none: the coordinate of that name
  size_t statements = 0;            // how many were placed inside so far
  Mark mark = Mark::serial;
  std::vector<Prefetch> prefetches;
};

class ScheduleParser {
 public:
  ScheduleParser(Lexer& lexer, const std::vector<Tensor>& tensors,
                 const std::vector<Statement>& statements)
      : lexer_(lexer),
        tensors_(tensors),
        statements_(statements),
        order_(statements.size()),
        placed_(statements.size(), false) {}

  std::vector<Order> parse() {
    parse_places(0, {});
    for (size_t s = 0; s < statements_.size(); ++s) {
      if (placed_[s]) continue;
      lexer_.fail_here("the schedule lacks statement '" + statements_[s].name + "'");
    }
    return order_;
  }

 private:
  Lexer& lexer_;
  const std::vector<Tensor>& tensors_;
  const std::vector<Statement>& statements_;
  std::vector<Order> order_;
  std::vector<bool> placed_;
  std::vector<Header> headers_;  // the loops that are open

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
    size_t tensor = parse_tensor_name(lexer_, tensors_);
    lexer_.expect(",");
    long distance = lexer_.expect_integer("a distance");
    lexer_.expect(")");
    return {tensor, distance};
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
      loop.value = parse_index(lexer_, s.domain.space(), s.dims);
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
      isl::multi_aff given = parse_tuple(lexer_, poly::tuples(s.domain.ctx(), loops.size()), names);
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

std::vector<Order> parse_schedule(Lexer& lexer, const std::vector<Tensor>& tensors,
                                  const std::vector<Statement>& statements) {
  return ScheduleParser(lexer, tensors, statements).parse();
}

}  // namespace lathe
