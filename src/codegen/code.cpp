// code.cpp: what can be said of a kernel. Interface: code.h.
#include "codegen/code.h"

namespace lathe {

const char* name_of(Number number) {
  switch (number) {
    case Number::f16:
      return "f16";
    case Number::f32:
      return "f32";
    case Number::f64:
      return "f64";
    case Number::i32:
      return "i32";
    case Number::i64:
      return "i64";
    case Number::i8:
      return "i8";
    case Number::u8:
      return "u8";
    case Number::bf16:
      return "bf16";
  }
  return "";
}

long size_of(Number number) {
  switch (number) {
    case Number::i8:
    case Number::u8:
      return 1;
    case Number::f16:
    case Number::bf16:
      return 2;
    case Number::f32:
    case Number::i32:
      return 4;
    case Number::f64:
    case Number::i64:
      return 8;
  }
  return 0;
}

bool is_real(Number number) {
  switch (number) {
    case Number::i8:
    case Number::u8:
    case Number::i32:
    case Number::i64:
      return false;
    default:
      return true;
  }
}

std::optional<Extra> extra_of(Number number) {
  switch (number) {
    case Number::f16:
      return Extra::f16;
    case Number::bf16:
      return Extra::bf16_dot;
    case Number::i8:
    case Number::u8:
      return Extra::i8_dot;
    default:
      return std::nullopt;
  }
}

long Code::count() const {
  long n = 1;
  for (long extent : parallel) n *= extent;
  return n;
}

std::vector<size_t> arguments_of(const Code& code) {
  std::vector<size_t> result;
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    if (code.used[t] && code.scratch[t] < 0) result.push_back(t);
  }
  return result;
}

}  // namespace lathe
