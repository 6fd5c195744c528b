// The parts of the text form of a nest that have a parser of their own: indices, and the schedule.
#pragma once

#include "base/lexer.h"
#include "nest/nest.h"

namespace lathe {

/// Reads a quasi-affine expression of the named coordinates of "space": 16*(f / 28) + ci.
isl::aff parse_index(Lexer& lexer, const isl::space& space, const std::vector<std::string>& dims);

/// Reads a list of them: [co, oh + kh].
isl::multi_aff parse_tuple(Lexer& lexer, const isl::space& space,
                           const std::vector<std::string>& dims);

/// Reads constraints, and returns what they leave of "domain".
isl::set parse_constraints(Lexer& lexer, const isl::set& domain,
                           const std::vector<std::string>& dims);

/// Reads what stands after "schedule:": the order of each statement.
std::vector<Order> parse_schedule(Lexer& lexer, const std::vector<Tensor>& tensors,
                                  const std::vector<Statement>& statements);

/// Reads the name of a tensor and returns its place.
size_t parse_tensor_name(Lexer& lexer, const std::vector<Tensor>& tensors);

}  // namespace lathe
