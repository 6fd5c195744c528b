// Numbers and functions in OpenCL C, as text. Values are expressions of so many lanes: "size",
// which is 1, 2, 4, 8 or 16.
#pragma once

#include <string>
#include <vector>

#include "codegen/code.h"

namespace lathe::opencl {

/// Returns the name of a type of so many lanes.
std::string vector_of(const std::string& scalar, long lanes);
/// Returns the type of a number, and of an element in memory.
std::string number_type(Number number);
std::string memory_type(Element element);
const char* space_word(Space space);

std::string literal(double value, Number number);
std::string converted(const std::string& value, Number from, Number to, long size);
/// Returns what a value of memory is as a number, and what a number is as a value of memory.
std::string loaded(const std::string& value, Element from, Number to, long size);
std::string stored(const std::string& value, Number from, Element to, long size);

/// Returns a function of operands. Some of integers are none of the language (opencl_source.cpp).
std::string applied(Expr::Op op, const std::vector<std::string>& a, long size, Number number);
/// Returns the larger of two; what is no number, if one of them is that.
std::string larger(const std::string& a, const std::string& b, long size, Number number);

}  // namespace lathe::opencl
