// The text form of nests (.nest): printed and parsed without loss.
//
//   nest conv
//   tensor I: input f32[64, 58, 58] pad [0, 1, 1]
//   tensor W: weight f32[64, 64, 3, 3]
//   tensor O: output f32[64, 56, 56]
//   statement conv[co < 64, ci < 64, oh < 56, ow < 56, kh < 3, kw < 3]:
//     O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh + kh, ow + kw]
//   schedule:
//     for co.o = co / 16 parallel, ci, oh, ow, kh, kw, co.i = co % 16 vector:
//       conv
//
// A domain that is no box has "where" constraints; an instance that stands for another one of the
// original operator has "from"; a statement of which none does, as a step's completion added it, is
// "added". Without a schedule each statement runs in its own loops, in turn.
// A loop that several statements define differently lists their definitions: for x = i / 2 | i.
// Where the loops do not show how to find the instance from them, it stands behind the statement:
// S[(8*x.o + x.i) / 3, (8*x.o + x.i) % 3].
#pragma once

#include <string>
#include <string_view>

#include "nest/nest.h"

namespace lathe {

/// Prints a nest; the same nest always gives the same bytes.
std::string print(const Nest& nest);

/// Parses a nest. "source" is named in errors.
Nest parse_nest(isl::ctx ctx, std::string_view text, const std::string& source = "nest");

/// Prints parts of a nest: "O[co, oh] += W[co] * I[oh]", "O[co, oh]", "for co.o < 4 parallel".
std::string print_body(const Statement& statement, const std::vector<Tensor>& tensors);
std::string print_access(const Access& access, const std::vector<Tensor>& tensors,
                         const std::vector<std::string>& dims);

/// Prints the constraints that a domain adds to the box of these extents; empty if it is that box.
std::string print_constraints(const isl::set& domain, const std::vector<long>& extents,
                              const std::vector<std::string>& dims);

/// Parses such constraints.
isl::set parse_constraints(isl::ctx ctx, std::string_view text, const std::vector<long>& extents,
                           const std::vector<std::string>& dims);

}  // namespace lathe
