// verb_pass_search.cpp: a search of passes, shown. Interface: verb_pass_search.h.
#include "cli/verb_pass_search.h"

#include <fmt/ranges.h>

#include "cli/verb_interruption.h"
#include "cli/verb_text.h"

namespace lathe::cli {
namespace {

constexpr double ms = 1e3, mib = 1 << 20;
constexpr size_t label_width = 12;

std::string print_speed(const PassMeasures& measures, const PassSearchResult& found,
                        PassObjective objective) {
  if (objective != PassObjective::throughput) {
    return fmt::format("{:.3f} ms", measures.seconds * ms);
  }
  return fmt::format("{:.1f} a second", static_cast<double>(found.batch) / measures.seconds);
}

std::string print_seconds(double seconds) {
  return seconds > 0 ? fmt::format("{:.2f} s", seconds) : "-";
}

void print_row(const std::string& name, const PassCandidate& candidate,
               const PassSearchResult& found, PassObjective objective) {
  const PassMeasures& m = candidate.measures;
  if (!candidate.failure.empty()) {
    fmt::print("{:<14} {}\n", name, wrapped("failed: " + candidate.failure, 15, 15));
    return;
  }
  fmt::print("{:<14} {:>16} {:>7.2f}x {:>9} {:>9} {:>11}\n", name, print_speed(m, found, objective),
             m.own / m.seconds, print_seconds(m.pass_seconds), print_seconds(m.kernel_seconds),
             fmt::format("{:.1f} MiB", static_cast<double>(m.bytes) / mib));
}

std::string power_text(const PassSearchResult& found) {
  const PowerReading& power = found.best.measures.power;
  std::string watts = power.watts ? fmt::format("{:.1f} W", *power.watts) : "";
  std::string heat = power.celsius ? fmt::format("{:.0f} degrees Celsius", *power.celsius) : "";
  if (!watts.empty() || !heat.empty()) {
    return fmt::format("{}{}{}", watts, watts.empty() || heat.empty() ? "" : ", ", heat);
  }
  if (found.sensors.empty()) return "not readable here (powercap, hwmon and NVML show none)";
  return fmt::format("read with --objective power, from {}", fmt::join(found.sensors, ", "));
}

void print_labelled(const std::string& label, const std::string& text) {
  fmt::print("{:<{}}{}\n", label, label_width, wrapped(text, label_width, label_width));
}

}  // namespace

JobListener telling_of_passes() {
  listen_to_interruptions();
  auto tell = [](const JobEvent& event) {
    const auto* tried = std::get_if<NetworkTried>(&event);
    if (tried == nullptr) return;
    const Trial& trial = tried->trial;
    if (trial.reason.empty()) {
      fmt::print(stderr, "{:>4}  {:<6} {:9.3f} ms, {:.2f} times as fast as the default\n",
                 tried->number, tried->strategy, trial.time * ms, trial.own / trial.time);
    } else {
      fmt::print(stderr, "{:>4}  {:<6} failed: {}\n", tried->number, tried->strategy, trial.reason);
    }
  };
  return {tell, is_interrupted};
}

void print_pass_search(const PassSearchResult& found, const PassSearchOptions& options) {
  fmt::print("\n{} sequences tried for {}, {} different graphs; batch {}, {} thread{}\n\n",
             found.sequences, name_of(options.objective), found.candidates.size(), found.batch,
             options.threads, options.threads == 1 ? "" : "s");
  bool throughput = options.objective == PassObjective::throughput;
  fmt::print("{:<14} {:>16} {:>8} {:>9} {:>9} {:>11}\n", "", throughput ? "throughput" : "latency",
             "speed", "passes", "kernels", "memory");
  print_row("default", found.usual, found, options.objective);
  bool is_leaner = found.lean.passes.size() < found.usual.passes.size() && !found.stopped;
  if (is_leaner) print_row("the same", found.lean, found, options.objective);
  bool same = found.best.hash == found.usual.hash;
  if (!same) {
    print_row(fmt::format("found ({})", found.best.way), found.best, found, options.objective);
  }
  if (!found.stopped) print_row("all passes", found.all, found, options.objective);
  fmt::print("\n");
  print_labelled("found", same ? "nothing is better than the default"
                               : fmt::format("{}", fmt::join(found.best.passes, ", ")));
  if (is_leaner) {
    print_labelled("the same", fmt::format("{} of the default's {} passes lead to its graph: {}",
                                           found.lean.passes.size(), found.usual.passes.size(),
                                           fmt::join(found.lean.passes, ", ")));
  }
  print_labelled("power", power_text(found));
  print_labelled("journal", found.folder);
  if (found.stopped) {
    print_labelled("stopped", "the same command goes on");
  }
}

}  // namespace lathe::cli
