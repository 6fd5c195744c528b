// op_fused.cpp: the calls of a fused operator, from text to types. Interface: op_fused.h.
#include "ops/op_fused.h"

#include "base/error.h"
#include "base/lexer.h"
#include "graph/text.h"

namespace lathe::ops {
namespace {

constexpr char result_mark = '#', lexed_mark = '$';

/// Returns the text with another mark for results, as '#' starts a comment; quoted texts stay.
std::string without_comments(std::string text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\') ++i;
    if (!quoted && text[i] == result_mark) text[i] = lexed_mark;
  }
  return text;
}

const Op& parse_op(Lexer& lexer) {
  const std::string& name = lexer.peek().text;
  const Op* op = find_op(name);
  if (op == nullptr) lexer.fail_here(fmt::format("no operator '{}'", name));
  if (op->graph.infer == nullptr || op->graph.nest == nullptr) {
    lexer.fail_here(fmt::format("{} cannot be fused: it has no nest in a graph", name));
  }
  if (name == "fused") lexer.fail_here("a fused operator is no part of another");
  lexer.take();
  return *op;
}

/// Reads %i, #j or _, if one of them is next.
std::optional<Source> parse_source(Lexer& lexer) {
  using Kind = Source::Kind;
  if (lexer.accept("_")) return Source{};
  Kind kind = lexer.sees("%") ? Kind::operand : Kind::result;
  if (!lexer.accept("%") && !lexer.accept(std::string(1, lexed_mark))) return std::nullopt;
  return Source{kind, static_cast<size_t>(lexer.expect_integer("a number"))};
}

/// Reads a part. The i-th may refer to "operands" operands and to "results" results.
Part parse_part(const std::string& text, size_t operands, size_t results) {
  Lexer lexer(fmt::format("fused: calls[{}]", results), without_comments(text));
  Part part{&parse_op(lexer), {}, {}};
  lexer.expect("(");
  while (!lexer.sees(")")) {
    size_t place = lexer.position();
    auto fail_at = [&](const std::string& message) {
      lexer.seek(place);
      lexer.fail_here(message);
    };
    if (auto source = parse_source(lexer)) {
      if (source->kind == Source::Kind::operand && source->index >= operands) {
        fail_at(fmt::format("no operand %{}; there are {}", source->index, operands));
      }
      if (source->kind == Source::Kind::result && source->index >= results) {
        fail_at(fmt::format("#{} is not computed before this call", source->index));
      }
      part.sources.push_back(*source);
    } else {
      std::string name = lexer.expect_name("an operand like %0, a result like #0, or an attribute");
      lexer.expect("=");
      if (!part.attributes.emplace(name, parse_attribute(lexer)).second) {
        fail_at(fmt::format("attribute '{}' is given twice", name));
      }
    }
    if (!lexer.accept(",")) break;
  }
  lexer.expect(")");
  if (!lexer.at_end()) lexer.fail_here("unexpected '" + lexer.peek().text + "'");
  return part;
}

/// Fails unless a tensor of this type can be in a nest.
void check_type(const Call& fused, const std::string& what, const Type& type) {
  if (type.dynamic) fused.refuse("the shape of {} is known only when the network runs", what);
  if (count_of(type.shape) == 0) fused.refuse("{} is empty", what);
}

/// Gives a part the types of its operands, and infers that of its output.
TypedPart typed(const Call& fused, Part part, const std::vector<TypedPart>& before) {
  std::vector<std::optional<Operand>> operands;
  for (const Source& source : part.sources) {
    switch (source.kind) {
      case Source::Kind::nothing:
        operands.emplace_back();
        break;
      case Source::Kind::operand:
        operands.emplace_back(fused.operand(source.index));
        break;
      case Source::Kind::result:
        operands.emplace_back(Operand{before[source.index].result, false});
        break;
    }
  }
  try {
    Call call(*part.op, std::move(operands), part.attributes);
    std::vector<Type> types = infer(call);
    if (types.size() != 1) call.refuse("has {} outputs; only one can be fused", types.size());
    if (part.op->graph.run != nullptr && !reads_are_known(call)) {
      call.refuse("cannot be fused: data decide what it reads");
    }
    check_type(fused, fmt::format("result #{}", before.size()), types[0]);
    return {std::move(part), std::move(call), types[0]};
  } catch (const UserError& error) {
    fail("fused: calls[{}]: {}", before.size(), error.what());
  }
}

/// Fails unless every operand, and every result but the last, is used.
void check_used(const Call& fused, const std::vector<TypedPart>& parts) {
  std::vector<bool> operands(fused.inputs(), false), results(parts.size(), false);
  results.back() = true;
  for (const TypedPart& typed : parts) {
    for (const Source& source : typed.part.sources) {
      if (source.kind == Source::Kind::operand) operands[source.index] = true;
      if (source.kind == Source::Kind::result) results[source.index] = true;
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) fused.refuse("no call uses operand %{}", i);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) fused.refuse("no call uses result #{}", i);
  }
}

}  // namespace

std::string print(const Part& part) {
  std::vector<std::string> arguments;
  for (const Source& source : part.sources) {
    arguments.push_back(source.kind == Source::Kind::nothing   ? "_"
                        : source.kind == Source::Kind::operand ? fmt::format("%{}", source.index)
                                                               : fmt::format("#{}", source.index));
  }
  for (const auto& [name, value] : part.attributes) {
    arguments.push_back(fmt::format("{}={}", name, print_attribute(value)));
  }
  return fmt::format("{}({})", part.op->name, fmt::join(arguments, ", "));
}

std::vector<TypedPart> parts_of(const Call& fused) {
  for (size_t i = 0; i < fused.inputs(); ++i) {
    if (!fused.has(i)) fused.refuse("operand {} is missing", i);
    check_type(fused, fmt::format("operand %{}", i), fused.type(i));
  }
  std::vector<TypedPart> parts;
  for (const std::string& text : fused.texts("calls")) {
    parts.push_back(typed(fused, parse_part(text, fused.inputs(), parts.size()), parts));
  }
  if (parts.empty()) fused.refuse("calls=[] has no call");
  check_used(fused, parts);
  return parts;
}

}  // namespace lathe::ops
