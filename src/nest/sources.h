// What the local tensors of a nest are made of.
#pragma once

#include <set>

#include "nest/nest.h"

namespace lathe {

/// Returns these tensors and all local ones that they are made of.
std::set<size_t> with_sources(const Nest& nest, std::set<size_t> tensors);

/// Does a tensor depend on weights and constants alone?
bool is_of_weights(const Nest& nest, size_t tensor);

}  // namespace lathe
