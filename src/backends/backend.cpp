// backend.cpp: which backend is for a target. Interface: backend.h.
#include "backends/backend.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace lathe {
namespace {

/// Is it the machine that a target means: the device of this number, or one of this kind?
bool is_meant(const Target& machine, const Target& wanted) {
  if (!wanted.is_gpu()) return machine.name == wanted.name;
  if (wanted.gpu.device != any_device) return machine.gpu.device == wanted.gpu.device;
  if (wanted.gpu.capability != 0) return machine.gpu.capability == wanted.gpu.capability;
  if (machine.has_warps() != wanted.has_warps()) return false;
  return wanted.has_warps() ? machine.gpu.multiprocessors == wanted.gpu.multiprocessors
                            : machine.cpu.vector_bytes == wanted.cpu.vector_bytes;
}

}  // namespace

const Backend& backend_for(const Target& target) {
  check(!target.name.empty(), "whoever compiles or runs says for which machine");
  for (const Backend& backend : backends::all()) {
    const std::vector<Architecture>& known = backend.architectures;
    if (std::find(known.begin(), known.end(), target.architecture) != known.end()) return backend;
  }
  fail("no backend makes code for the target '{}'", target.name);
}

std::unique_ptr<Compiler> make_compiler(const Target& target, Effort effort) {
  return backend_for(target).compiler(target, effort);
}

std::unique_ptr<Device> make_device(const Target& target) {
  return backend_for(target).device(target);
}

Target machine_named(const std::string& name) {
  if (name == "native") return native_target();
  Target wanted = target_named(name);
  std::vector<std::string> known;
  for (const Target& machine : backend_for(wanted).here()) {
    if (is_meant(machine, wanted)) return machine;
    known.push_back(full_name(machine));
  }
  if (known.empty()) {
    try {
      make_device(wanted);
    } catch (const UserError& error) {
      fail("this computer has no machine for the target '{}': {}", name, error.what());
    }
    fail("this computer has no machine for the target '{}'", name);
  }
  fail("this computer has no machine for the target '{}'; it has {}", name, fmt::join(known, ", "));
}

Target target_or_machine(const std::string& name) {
  Target wanted = target_named(name);
  if (!wanted.is_gpu()) return wanted;
  for (const Target& machine : backend_for(wanted).here()) {
    if (is_meant(machine, wanted)) return machine;
  }
  return wanted;
}

std::vector<std::string> text_forms() {
  std::vector<std::string> names;
  for (const Backend& backend : backends::all()) {
    for (const TextForm& form : backend.forms) names.push_back(form.name);
  }
  return names;
}

std::string print_kernels(const Target& target, const std::string& form,
                          const std::vector<NamedCode>& kernels) {
  const Backend& backend = backend_for(target);
  std::vector<std::string> known;
  for (const TextForm& each : backend.forms) known.push_back(each.name);
  if (std::find(known.begin(), known.end(), form) == known.end()) {
    fail("code for {} has no form '{}'; there are {}", target.name, form, fmt::join(known, ", "));
  }
  return backend.compiler(target, Effort::quick)->text(form, kernels);
}

}  // namespace lathe
