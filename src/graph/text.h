// Pieces of the text form that graphs and calls share.
#pragma once

#include "base/lexer.h"
#include "graph/graph.h"

namespace lathe {

/// Is the next token the beginning of a type?
bool sees_type(const Lexer& lexer);
/// Reads a type: f32[1x3x32x32].
Type parse_type(Lexer& lexer);
/// Reads an attribute's value.
Attribute parse_attribute(Lexer& lexer);

}  // namespace lathe
