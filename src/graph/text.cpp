// text.cpp: graphs as text and back. Interface: print() and parse_graph() of graph.h, text.h.
#include "graph/text.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace lathe {
namespace {

constexpr long most_printed = 16;       // elements of an array
constexpr long most_stored = 1L << 27;  // elements of a constant whose data were not printed

/// Prints a value's or node's name. What the text form uses as a word of its own is quoted.
std::string print_name(std::string_view name) {
  return name == "_" || name == "as" ? quoted(name) : quoted_unless_name(name);
}

/// Is the next token this word, and not a quoted name?
bool sees_word(const Lexer& lexer, std::string_view word) {
  return lexer.peek().kind == Token::Kind::name && lexer.sees(word);
}

/// Prints a real so that it cannot be taken for an integer.
std::string print_real(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string print_element(const Array& data, size_t i) {
  if (data.element() == Element::string) return quoted(data.strings()[i]);
  if (is_integral(data.element())) return std::to_string(data.integers()[i]);
  return print_real(data.reals()[i]);
}

std::string print_data(const Array& data) {
  if (data.count() > most_printed) return "stored";
  std::string out = "[";
  for (size_t i = 0; i < static_cast<size_t>(data.count()); ++i) {
    out += (i > 0 ? ", " : "") + print_element(data, i);
  }
  return out + "]";
}

const std::map<std::string, Initial::Kind> initial_kinds = {{"zeros", Initial::Kind::zeros},
                                                            {"ones", Initial::Kind::ones},
                                                            {"normal", Initial::Kind::normal},
                                                            {"uniform", Initial::Kind::uniform}};

std::string print_initial(const Initial& initial) {
  for (const auto& [name, kind] : initial_kinds) {
    if (kind != initial.kind) continue;
    bool has_scale = kind == Initial::Kind::normal || kind == Initial::Kind::uniform;
    return has_scale ? fmt::format(" = {}({})", name, print_real(initial.scale)) : " = " + name;
  }
  return "";
}

std::string print_given(const Value& value) {
  std::string out =
      fmt::format("{} {}: {}", name_of(value.kind), print_name(value.name), print_type(value.type));
  if (value.data) return out + " = " + print_data(*value.data);
  return out + print_initial(value.initial);
}

std::string print_node(const Graph& graph, const Node& node) {
  auto name = [&](ValueId id) {
    return id == no_value ? std::string("_") : print_name(graph.values[id].name);
  };
  std::string outputs, arguments, types;
  for (ValueId id : node.outputs) {
    outputs += (outputs.empty() ? "" : ", ") + name(id);
    types += (types.empty() ? "" : ", ") + print_type(graph.values[id].type);
  }
  for (ValueId id : node.inputs) arguments += (arguments.empty() ? "" : ", ") + name(id);
  for (const auto& [key, value] : node.attributes) {
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", key, print_attribute(value));
  }
  // A node is named like its first output unless it says otherwise.
  std::string named;
  if (node.name != graph.values[node.outputs.front()].name) {
    named = " as " + print_name(node.name);
  }
  return fmt::format("{} = {}({}): {}{}", outputs, node.op, arguments, types, named);
}

struct Printer {
  std::string operator()(long value) const { return std::to_string(value); }
  std::string operator()(double value) const { return print_real(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string out = "[";
    for (const T& value : list) out += (out.size() > 1 ? ", " : "") + (*this)(value);
    return out + "]";
  }
};

template <class T, class Read>
std::vector<T> parse_list(Lexer& lexer, Read read) {
  std::vector<T> list;
  lexer.expect("[");
  while (!lexer.sees("]")) {
    list.push_back(read());
    if (!lexer.accept(",")) break;
  }
  lexer.expect("]");
  return list;
}

bool sees_real(const Lexer& lexer) {
  const std::string& text = lexer.peek().text;
  if (text == "inf" || text == "nan") return true;
  return lexer.peek().kind == Token::Kind::number &&
         text.find_first_not_of("0123456789") != std::string::npos;
}

double parse_real(Lexer& lexer) {
  if (lexer.accept("nan")) return std::nan("");
  return lexer.expect_number("a number");
}

/// Reads a number: an integer unless it is written as a real.
std::variant<long, double> parse_number(Lexer& lexer) {
  size_t place = lexer.position();
  bool negative = lexer.accept("-");
  if (sees_real(lexer)) {
    lexer.seek(place);
    if (negative && lexer.accept("-") && lexer.accept("nan")) return -std::nan("");
    lexer.seek(place);
    return parse_real(lexer);
  }
  if (negative && lexer.accept("9223372036854775808")) return std::numeric_limits<long>::lowest();
  long value = lexer.expect_integer("a number");
  return negative ? -value : value;
}

double as_real(const std::variant<long, double>& number) {
  if (const long* value = std::get_if<long>(&number)) return static_cast<double>(*value);
  return std::get<double>(number);
}

class GraphParser {
 public:
  GraphParser(std::string_view text, const std::string& source) : lexer_(source, text) {}

  Graph parse() {
    lexer_.expect("graph");
    graph_.name = lexer_.expect_text("a name for the graph");
    while (!lexer_.at_end()) parse_line();
    verify(graph_);
    return graph_;
  }

 private:
  Lexer lexer_;
  Graph graph_;
  std::map<std::string, ValueId, std::less<>> ids_;

  void parse_line() {
    size_t place = lexer_.position();
    if (lexer_.accept("output")) {
      if (!lexer_.sees("=") && !lexer_.sees(",")) {
        graph_.outputs.push_back(parse_use());
        return;
      }
      lexer_.seek(place);
    }
    for (Value::Kind kind :
         {Value::Kind::input, Value::Kind::weight, Value::Kind::state, Value::Kind::constant}) {
      if (!lexer_.accept(name_of(kind))) continue;
      if (!lexer_.sees("=") && !lexer_.sees(",")) return parse_given(kind);
      lexer_.seek(place);
    }
    parse_node();
  }

  /// Fails at a place that was read before.
  [[noreturn]] void fail_at(size_t place, const std::string& message) {
    lexer_.seek(place);
    lexer_.fail_here(message);
  }

  ValueId parse_use() {
    size_t place = lexer_.position();
    std::string name = lexer_.expect_text("a value's name");
    auto found = ids_.find(name);
    if (found == ids_.end()) fail_at(place, fmt::format("there is no value '{}' so far", name));
    return found->second;
  }

  ValueId define(Value value, size_t place) {
    if (!ids_.emplace(value.name, graph_.values.size()).second) {
      fail_at(place, fmt::format("there are two values '{}'", value.name));
    }
    graph_.values.push_back(std::move(value));
    return graph_.values.size() - 1;
  }

  void parse_given(Value::Kind kind) {
    size_t place = lexer_.position();
    Value value{lexer_.expect_text("a value's name"), kind, {}};
    lexer_.expect(":");
    value.type = parse_type(lexer_);
    if (lexer_.accept("=")) parse_content(value);
    ValueId id = define(std::move(value), place);
    if (kind == Value::Kind::input) graph_.inputs.push_back(id);
  }

  void parse_content(Value& value) {
    size_t place = lexer_.position();
    if (lexer_.sees("[")) {
      value.data = parse_data(value.type);
    } else if (lexer_.accept("stored")) {
      // What was not printed is zeros where it must be there.
      if (value.kind != Value::Kind::constant) return;
      if (count_of(value.type.shape) > most_stored) {
        fail_at(place, fmt::format("{} is too large", print_type(value.type)));
      }
      value.data = Array(value.type.element, value.type.shape);
    } else {
      auto found = initial_kinds.find(lexer_.peek().text);
      if (found == initial_kinds.end()) lexer_.fail_here("expected data, or how the value begins");
      lexer_.take();
      value.initial.kind = found->second;
      if (!lexer_.accept("(")) return;
      value.initial.scale = parse_real(lexer_);
      lexer_.expect(")");
    }
  }

  Array parse_data(const Type& type) {
    size_t place = lexer_.position();
    if (type.element == Element::string) {
      auto list = parse_list<std::string>(lexer_, [&] { return lexer_.expect_text("a text"); });
      check_count(type, list.size(), place);
      return Array::of_strings(type.shape, list);
    }
    auto list =
        parse_list<std::variant<long, double>>(lexer_, [&] { return parse_number(lexer_); });
    check_count(type, list.size(), place);
    if (is_float(type.element)) {
      std::vector<double> values;
      for (const auto& number : list) values.push_back(as_real(number));
      return Array::of_reals(type.element, type.shape, values);
    }
    std::vector<long> values;
    for (const auto& number : list) {
      if (!std::holds_alternative<long>(number)) fail_at(place, "expected integers");
      values.push_back(std::get<long>(number));
    }
    return Array::of_integers(type.element, type.shape, values);
  }

  void check_count(const Type& type, size_t count, size_t place) {
    if (count_of(type.shape) == static_cast<long>(count)) return;
    fail_at(place, fmt::format("{} needs {} elements, not {}", print_type(type),
                               count_of(type.shape), count));
  }

  void parse_node() {
    Node node;
    std::vector<std::string> outputs;
    size_t place = lexer_.position();
    do outputs.push_back(lexer_.expect_text("a value's name, or output"));
    while (lexer_.accept(","));
    lexer_.expect("=");
    node.op = lexer_.expect_name("an operator");
    lexer_.expect("(");
    while (!lexer_.sees(")")) {
      parse_argument(node);
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect(")");
    lexer_.expect(":");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i > 0) lexer_.expect(",");
      node.outputs.push_back(
          define({outputs[i], Value::Kind::computed, parse_type(lexer_)}, place));
    }
    bool named = sees_word(lexer_, "as");
    if (named) lexer_.take();
    node.name = named ? lexer_.expect_text("the node's name") : outputs.front();
    graph_.nodes.push_back(std::move(node));
  }

  void parse_argument(Node& node) {
    size_t place = lexer_.position();
    bool left_out = sees_word(lexer_, "_");
    std::string name = lexer_.expect_text("a value or an attribute");
    if (lexer_.accept("=")) {
      if (!node.attributes.emplace(name, parse_attribute(lexer_)).second) {
        fail_at(place, fmt::format("attribute '{}' is given twice", name));
      }
      return;
    }
    if (left_out) {
      node.inputs.push_back(no_value);
      return;
    }
    lexer_.seek(place);
    node.inputs.push_back(parse_use());
  }
};

}  // namespace

std::string print_attribute(const Attribute& attribute) { return std::visit(Printer{}, attribute); }

bool sees_type(const Lexer& lexer) { return element_named(lexer.peek().text).has_value(); }

Type parse_type(Lexer& lexer) {
  auto element = element_named(lexer.peek().text);
  if (!element) lexer.fail_here(fmt::format("'{}' is no element type", lexer.peek().text));
  lexer.take();
  Type type{*element, {}};
  lexer.expect("[");
  if (lexer.accept("?")) {
    type.dynamic = true;
  } else if (!lexer.sees("]")) {
    type.shape.push_back(lexer.expect_integer("an extent"));
    // 1x3x32 is the number 1 and the name x3x32.
    std::string rest = lexer.sees("]") ? "" : lexer.expect_name("a shape like 1x3x32");
    for (size_t at = 0; at < rest.size();) {
      long extent = 0;
      auto [end, error] = std::from_chars(rest.data() + at + 1, rest.data() + rest.size(), extent);
      if (rest[at] != 'x' || error != std::errc()) lexer.fail_here("expected a shape like 1x3x32");
      type.shape.push_back(extent);
      at = static_cast<size_t>(end - rest.data());
    }
  }
  lexer.expect("]");
  return type;
}

Attribute parse_attribute(Lexer& lexer) {
  if (lexer.peek().kind == Token::Kind::text) return lexer.take().text;
  if (!lexer.sees("[")) {
    auto number = parse_number(lexer);
    if (const long* value = std::get_if<long>(&number)) return *value;
    return std::get<double>(number);
  }
  size_t place = lexer.position();
  lexer.take();
  bool texts = lexer.peek().kind == Token::Kind::text;
  lexer.seek(place);
  if (texts) {
    return parse_list<std::string>(lexer, [&] { return lexer.expect_text("a text"); });
  }
  auto list = parse_list<std::variant<long, double>>(lexer, [&] { return parse_number(lexer); });
  Shape integers;
  std::vector<double> reals;
  for (const auto& number : list) {
    if (const long* value = std::get_if<long>(&number)) integers.push_back(*value);
    reals.push_back(as_real(number));
  }
  if (integers.size() == list.size()) return integers;
  return reals;
}

std::string print(const Graph& graph) {
  std::string out = fmt::format("graph {}\n", quoted_unless_name(graph.name));
  for (ValueId id : graph.inputs) out += print_given(graph.values[id]) + "\n";
  for (const Value& value : graph.values) {
    bool given = value.kind != Value::Kind::computed && value.kind != Value::Kind::input;
    if (given) out += print_given(value) + "\n";
  }
  for (const Node& node : graph.nodes) out += print_node(graph, node) + "\n";
  for (ValueId id : graph.outputs) {
    out += fmt::format("output {}\n", print_name(graph.values[id].name));
  }
  return out;
}

Graph parse_graph(std::string_view text, const std::string& source) {
  return GraphParser(text, source).parse();
}

}  // namespace lathe
