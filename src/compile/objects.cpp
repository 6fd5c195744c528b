// objects.cpp: the cache of object files. Interface: objects.h.
//
// The folder is $LATHE_CACHE, or lathe/objects in $XDG_CACHE_HOME or ~/.cache. A file that another
// process writes at the same time is never seen half-written: files are renamed into place. A file
// ends with the fingerprint of the object and its name: one that was changed since, cut short or
// renamed is no object, and is written again.
#include "compile/objects.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <span>

#include "base/error.h"
#include "base/random.h"
#include "data/file.h"

namespace lathe {
namespace {

constexpr size_t fingerprint_size = 32;  // two hashes of 64 bits, in hexadecimal digits

}  // namespace

std::string fingerprint(const std::string& text) {
  return fmt::format("{:016x}{:016x}", hash_bytes(text, 1), hash_bytes(text, 2));
}

const std::string& program_version() {
  static const std::string version = [] {
    struct stat program {};
    if (stat("/proc/self/exe", &program) != 0) return std::string("unknown");
    return fmt::format("{}.{}.{}", program.st_size, program.st_mtim.tv_sec,
                       program.st_mtim.tv_nsec);
  }();
  return version;
}

std::filesystem::path objects_folder() {
  if (const char* own = std::getenv("LATHE_CACHE")) return own;
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) {
    return std::filesystem::path(cache) / "lathe" / "objects";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::filesystem::path()
                         : std::filesystem::path(home) / ".cache" / "lathe" / "objects";
}

std::optional<std::string> kept_object(const std::string& name) {
  std::filesystem::path path = objects_folder();
  if (path.empty()) return std::nullopt;
  path /= name + ".o";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    std::string object = read_file(path.string());
    size_t size = object.size() - std::min(object.size(), fingerprint_size + name.size());
    std::string end = object.substr(size);
    object.resize(size);
    if (end != fingerprint(object) + name) return std::nullopt;
    return object;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void keep_object(const std::string& name, const std::string& object) {
  std::filesystem::path path = objects_folder();
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  try {
    std::string end = fingerprint(object) + name;
    write_file((path / (name + ".o")).string(),
               {std::as_bytes(std::span(object)), std::as_bytes(std::span(end))});
  } catch (const UserError&) {
    return;  // it is made again next time
  }
}

}  // namespace lathe
