// What is wrong with JSON, in words for users.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lathe {

/// Says what an error about JSON means: where a text breaks off, what an object lacks, which kind
/// of value stands where another is expected.
std::string plain_reason(const nlohmann::json::exception& error);

}  // namespace lathe
