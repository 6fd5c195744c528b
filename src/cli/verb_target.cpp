// verb_target.cpp: --target. Interface: verb_target.h.
#include "cli/verb_target.h"

#include <fmt/ranges.h>

#include "codegen/target.h"

namespace lathe::cli {

void add_target_argument(Command& app, std::string& target, const std::string& what) {
  std::vector<std::string> names = {"native"};
  for (const Target& each : targets()) names.push_back(each.name);
  names.emplace_back("opencl");
  app.add_option("--target", target,
                 fmt::format("{}: {}, or with extras: aarch64+f16+dot, or another device: "
                             "opencl:1; 'lathe list targets'",
                             what, fmt::join(names, ", ")))
      ->suggests(names);
}

}  // namespace lathe::cli
