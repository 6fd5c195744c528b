/* Elements of tensors as floats, for whoever makes numbers up or compares them. */
#ifndef LATHE_RUNTIME_NUMBERS_H
#define LATHE_RUNTIME_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Types of elements that are numbers with a fraction, and all others. */
enum lathe_numbers { LATHE_F32, LATHE_TF32, LATHE_F16, LATHE_BF16, LATHE_NO_NUMBERS };

/* The type of a name: "f32", "tf32", "f16" or "bf16". */
static inline enum lathe_numbers lathe_numbers_named(const char* name) {
  static const char* const names[] = {"f32", "tf32", "f16", "bf16"};
  for (int i = 0; i < LATHE_NO_NUMBERS; ++i)
    if (!__builtin_strcmp(name, names[i])) return (enum lathe_numbers)i;
  return LATHE_NO_NUMBERS;
}

static inline size_t lathe_number_bytes(enum lathe_numbers type) {
  return type == LATHE_F32 || type == LATHE_TF32 ? 4 : 2;
}

static inline float lathe_from_bits(uint32_t bits) {
  float number;
  __builtin_memcpy(&number, &bits, sizeof number);
  return number;
}

static inline float lathe_from_f16(uint32_t half) {
  uint32_t sign = half >> 15 << 31, exponent = half >> 10 & 31, digits = half & 1023;
  if (exponent == 0) {
    float small = (float)digits / (float)(1 << 24);
    return sign ? -small : small;
  }
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return lathe_from_bits(sign | wide << 23 | digits << 13);
}

/* Element "at" of a tensor. */
static inline float lathe_number_at(enum lathe_numbers type, const void* tensor, int64_t at) {
  if (lathe_number_bytes(type) == sizeof(float)) return ((const float*)tensor)[at];
  uint32_t half = ((const uint16_t*)tensor)[at];
  return type == LATHE_BF16 ? lathe_from_bits(half << 16) : lathe_from_f16(half);
}

/* Sets it to a number that the type has: 0, or one of a size from 2^-14 to 2^15. */
static inline void lathe_set_number(enum lathe_numbers type, void* tensor, int64_t at,
                                    float number) {
  uint32_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  uint32_t half =
      number == 0 ? 0 : (bits >> 31 << 15) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023);
  if (lathe_number_bytes(type) == sizeof(float))
    ((float*)tensor)[at] = number;
  else
    ((uint16_t*)tensor)[at] = (uint16_t)(type == LATHE_BF16 ? bits >> 16 : half);
}

#endif
