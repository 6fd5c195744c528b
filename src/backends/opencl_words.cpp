// opencl_words.cpp: numbers and functions in OpenCL C. Interface: opencl_words.h.
#include "backends/opencl_words.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace lathe::opencl {
namespace {

std::string chosen(const std::string& a, const std::string& b, long size, Number number,
                   const char* than) {
  bool real = is_float(number);
  if (size == 1) {
    return real ? fmt::format("({0} {2} {1} || {1} != {1}) ? {1} : {0}", a, b, than)
                : fmt::format("({0} {2} {1}) ? {1} : {0}", a, b, than);
  }
  return real ? fmt::format("select({0}, {1}, ({0} {2} {1}) | ({1} != {1}))", a, b, than)
              : fmt::format("select({0}, {1}, {0} {2} {1})", a, b, than);
}

std::string truth(const std::string& condition, long size, Number number) {
  std::string type = number_type(number);
  if (size == 1) return fmt::format("({}) ? ({})1 : ({})0", condition, type, type);
  return fmt::format("convert_{}(-({}))", vector_of(type, size), condition);
}

std::string function_of_reals(Expr::Op op, const std::vector<std::string>& a, long size,
                              Number number) {
  using Op = Expr::Op;
  switch (op) {
    case Op::round:
      return fmt::format("rint({})", a[0]);
    case Op::single:
      if (number == Number::f32) return a[0];
      return fmt::format("convert_{}(convert_{}({}))", vector_of("double", size),
                         vector_of("float", size), a[0]);
    case Op::rem:
      return fmt::format("fmod({}, {})", a[0], a[1]);
    case Op::mod: {
      std::string rest = fmt::format("fmod({}, {})", a[0], a[1]);
      std::string wrong = fmt::format("({0} != 0) & (({0} < 0) != ({1} < 0))", rest, a[1]);
      if (size == 1) return fmt::format("({0}) ? {1} + {2} : {1}", wrong, rest, a[1]);
      return fmt::format("select({1}, {1} + {2}, {0})", wrong, rest, a[1]);
    }
    default: {
      // The others have the names that the language knows.
      std::string args = a[0];
      for (size_t k = 1; k < a.size(); ++k) args += ", " + a[k];
      return fmt::format("{}({})", function_of(op).name, args);
    }
  }
}

}  // namespace

std::string vector_of(const std::string& scalar, long lanes) {
  return lanes == 1 ? scalar : fmt::format("{}{}", scalar, lanes);
}

std::string number_type(Number number) {
  switch (number) {
    case Number::f32:
      return "float";
    case Number::f64:
      return "double";
    case Number::i32:
      return "int";
    case Number::i64:
      return "long";
    default:
      fail("OpenCL kernels do not compute with {}", name_of(number));
  }
}

std::string memory_type(Element element) {
  switch (element) {
    case Element::f32:
    case Element::tf32:
      return "float";
    case Element::f64:
      return "double";
    case Element::i8:
      return "char";
    case Element::i16:
      return "short";
    case Element::i32:
      return "int";
    case Element::i64:
      return "long";
    case Element::u8:
    case Element::boolean:
      return "uchar";
    case Element::f16:
    case Element::bf16:
    case Element::u16:
      return "ushort";
    case Element::u32:
      return "uint";
    case Element::u64:
      return "ulong";
    case Element::string:
      break;
  }
  fail("no nest computes on strings");
}

const char* space_word(Space space) {
  return space == Space::shared ? "__local" : space == Space::privately ? "__private" : "__global";
}

std::string literal(double value, Number number) {
  if (!is_float(number)) {
    long whole = std::isinf(value) ? (value < 0 ? std::numeric_limits<long>::lowest()
                                                : std::numeric_limits<long>::max())
                                   : static_cast<long>(value);
    if (number == Number::i32) return fmt::format("{}", static_cast<int>(whole));
    // The least number has no literal of its own.
    if (whole == std::numeric_limits<long>::lowest()) return "(-9223372036854775807L - 1)";
    return fmt::format("{}L", whole);
  }
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  if (number == Number::f64) return fmt::format("{:a}", value);
  return fmt::format("{:a}f", static_cast<double>(static_cast<float>(value)));
}

std::string converted(const std::string& value, Number from, Number to, long size) {
  if (from == to) return value;
  bool sat = is_float(from) && !is_float(to);
  return fmt::format("convert_{}{}({})", vector_of(number_type(to), size), sat ? "_sat" : "",
                     value);
}

std::string larger(const std::string& a, const std::string& b, long size, Number number) {
  return chosen(a, b, size, number, "<");
}

std::string applied(Expr::Op op, const std::vector<std::string>& a, long size, Number number) {
  using Op = Expr::Op;
  bool real = is_float(number);
  switch (op) {
    case Op::neg:
      return "-" + a[0];
    case Op::add:
      return a[0] + " + " + a[1];
    case Op::sub:
      return a[0] + " - " + a[1];
    case Op::mul:
      return a[0] + " * " + a[1];
    case Op::div:
      return a[0] + " / " + a[1];
    case Op::max:
      return chosen(a[0], a[1], size, number, "<");
    case Op::min:
      return chosen(a[0], a[1], size, number, ">");
    case Op::less:
      return truth(a[0] + " < " + a[1], size, number);
    case Op::less_equal:
      return truth(a[0] + " <= " + a[1], size, number);
    case Op::equal:
      return truth(a[0] + " == " + a[1], size, number);
    case Op::select:
      if (size == 1) return fmt::format("{} != 0 ? {} : {}", a[0], a[1], a[2]);
      return fmt::format("select({}, {}, {} != 0)", a[2], a[1], a[0]);
    case Op::abs:
      if (real) return fmt::format("fabs({})", a[0]);
      return size == 1 ? fmt::format("{0} < 0 ? -{0} : {0}", a[0])
                       : fmt::format("select({0}, -{0}, {0} < 0)", a[0]);
    case Op::bit_and:
      return a[0] + " & " + a[1];
    case Op::bit_or:
      return a[0] + " | " + a[1];
    case Op::bit_xor:
      return a[0] + " ^ " + a[1];
    default:
      return real ? function_of_reals(op, a, size, number) : a[0];
  }
}

std::string loaded(const std::string& value, Element from, Number to, long size) {
  std::string type = number_type(to);
  if (from == Element::bf16) {
    std::string bits = fmt::format("as_{}(convert_{}({}) << 16)", vector_of("float", size),
                                   vector_of("uint", size), value);
    return to == Number::f32 ? bits : fmt::format("convert_{}({})", vector_of(type, size), bits);
  }
  if (memory_type(from) == type) return value;
  return fmt::format("convert_{}({})", vector_of(type, size), value);
}

std::string stored(const std::string& value, Number from, Element to, long size) {
  std::string type = vector_of(memory_type(to), size);
  if (to == Element::bf16) {
    return fmt::format("lathe_bf16_{}({})", size, converted(value, from, Number::f32, size));
  }
  if (to == Element::tf32) {
    return fmt::format("lathe_tf32_{}({})", size, converted(value, from, Number::f32, size));
  }
  if (to == Element::boolean) {
    if (size == 1) return fmt::format("{} != 0 ? 1 : 0", value);
    return fmt::format("convert_{}(({} != 0) & 1)", type, value);
  }
  if (memory_type(to) == number_type(from)) return value;
  if (is_float(to)) return fmt::format("convert_{}({})", type, value);
  std::string whole = value;
  if (is_float(from)) {
    whole = fmt::format("convert_{}_sat({})", vector_of("long", size), value);
    if (memory_type(to) == "long") return whole;
  }
  return fmt::format("convert_{}({})", type, whole);
}

}  // namespace lathe::opencl
