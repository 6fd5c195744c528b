// How Lathe says that something is wrong: UserError for bad input (what, where, what to do),
// check() for our own bugs. A refusal of a transformation is neither: it is a Verdict
// (base/verdict.h).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

namespace lathe {

/// Bad input: the message says what is wrong, where, and what was expected.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug of ours: a condition that had to hold did not.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws a UserError with a formatted message.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws an InternalError unless "condition" holds; "why" says why it must.
inline void check(bool condition, std::string_view why) {
  if (!condition) throw InternalError(fmt::format("internal error: {}", why));
}

}  // namespace lathe
