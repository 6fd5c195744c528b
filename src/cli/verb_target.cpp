// verb_target.cpp: --target. Interface: verb_target.h.
#include "cli/verb_target.h"

#include <fmt/ranges.h>

#include "codegen/target.h"

namespace lathe::cli {

void add_target_argument(Command& app, std::string& target, const std::string& what) {
  std::vector<std::string> names = {"native"};
  for (const Target& each : targets()) names.push_back(each.name);
  std::vector<std::string> suggested = names;
  for (const Target& each : gpu_targets()) {
    suggested.push_back(each.name);
    if (each.gpu.device != any_device) names.push_back(each.name);
  }
  app.add_option("--target", target,
                 fmt::format("{}: {}, or with extras: aarch64+f16+dot, or another device: "
                             "opencl:1, or a kind of them: cuda:sm_80, opencl:units=40 (a GPU), "
                             "opencl:vectors=64 (a CPU); 'lathe list targets'",
                             what, fmt::join(names, ", ")))
      ->suggests(suggested);
}

}  // namespace lathe::cli
