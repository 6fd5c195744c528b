// failure.cpp: exceptions in words. Interface: failure.h.
#include "base/failure.h"

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_reason.h"

namespace lathe {

Failure current_failure() {
  using Kind = Failure::Kind;
  try {
    throw;
  } catch (const UserError& error) {
    return {Kind::input, error.what()};
  } catch (const nlohmann::json::exception& error) {
    return {Kind::input, fmt::format("a file is not what Lathe writes: {}", plain_reason(error))};
  } catch (const std::bad_alloc&) {
    return {Kind::input, "there is not enough memory for this"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {Kind::input, fmt::format("'{}': {}", error.path1().string(), error.code().message())};
  } catch (const std::system_error& error) {
    return {Kind::system, error.what()};
  } catch (const std::exception& error) {
    return {Kind::bug, error.what()};
  } catch (...) {
    return {Kind::bug, "something was thrown that is no error"};
  }
}

}  // namespace lathe
