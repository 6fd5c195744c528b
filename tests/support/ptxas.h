// NVIDIA's assembler, which checks PTX where it is installed.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "support/temporary.h"

namespace lathe::test {

/// Returns the path of ptxas: $LATHE_PTXAS, where scripts/setup --all puts it, or one on the path.
/// Nothing if there is none.
inline std::optional<std::string> ptxas() {
  static const std::optional<std::string> found = [] {
    std::vector<std::string> names;
    if (const char* own = std::getenv("LATHE_PTXAS")) names.emplace_back(own);
    names.emplace_back("ptxas");
    for (const std::string& name : names) {
      std::string command = "'" + name + "' --version >/dev/null 2>&1";
      if (std::system(command.c_str()) == 0) return std::optional(name);
    }
    return std::optional<std::string>();
  }();
  return found;
}

/// Returns the earliest of the assembler's architectures that runs kernels for "capability": each
/// runs those of earlier ones, and new assemblers leave old ones out. Itself if none is found.
inline long assembled_for(long capability) {
  static const std::set<long> known = [] {
    TemporaryDirectory folder;
    std::string help = folder.file("help");
    std::set<long> found;
    if (std::system(fmt::format("'{}' --help >'{}' 2>&1", *ptxas(), help).c_str()) != 0) {
      return found;
    }
    std::string text = content_of(help);
    const std::regex name("'sm_([0-9]+)'");
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
      found.insert(std::stol((*at)[1]));
    }
    return found;
  }();
  auto found = known.lower_bound(capability);
  return found == known.end() ? capability : *found;
}

/// Returns what the assembler says against PTX; "" if it takes it, or is not there.
inline std::string refused_by_ptxas(const std::string& ptx, const Target& target) {
  if (!ptxas()) return "";
  TemporaryDirectory folder;
  std::string source = folder.file("kernels.ptx", ptx), said = folder.file("said");
  std::string command =
      fmt::format("'{}' -O1 -arch=sm_{} '{}' -o '{}' >'{}' 2>&1", *ptxas(),
                  assembled_for(target.gpu.capability), source, folder.file("kernels.cubin"), said);
  if (std::system(command.c_str()) == 0) return "";
  return content_of(said) + "\n" + ptx;
}

}  // namespace lathe::test

/// Says that PTX was written but not assembled.
#define LATHE_WANTS_PTXAS()    \
  if (!::lathe::test::ptxas()) \
  std::cout << "left out: PTX is not assembled without ptxas; scripts/setup --all installs it\n"
