// objects.cpp: the cache of object files. Interface: objects.h.
//
// The folder is $LATHE_CACHE, or lathe/objects in $XDG_CACHE_HOME or ~/.cache. A file that another
// process writes at the same time is never seen half-written: files are renamed into place.
#include "compile/objects.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <span>

#include "base/error.h"
#include "base/random.h"
#include "data/file.h"

namespace lathe {
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
    InputFile file(path.string());
    std::vector<std::byte> bytes = file.read(0, file.size());
    std::string object(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // The last bytes repeat the name: a file cut short is no object.
    if (!object.ends_with(name)) return std::nullopt;
    object.resize(object.size() - name.size());
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
    write_file((path / (name + ".o")).string(),
               {std::as_bytes(std::span(object)), std::as_bytes(std::span(name))});
  } catch (const UserError&) {
    return;  // it is made again next time
  }
}

}  // namespace lathe
