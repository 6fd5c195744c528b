// verb_tune_show.cpp: prints what tuning found. Interface: verb_tune_show.h.
#include "cli/verb_tune_show.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lathe::cli {
namespace {

constexpr size_t columns = 80;

/// Prints a template and its settings below its layer.
void print_choice(const Choice& choice) {
  std::string line = "    " + choice.schedule + ":";
  for (const auto& [name, value] : choice.settings) {
    std::string setting = fmt::format(" {}={}", name, value);
    if (line.size() + setting.size() > columns) {
      fmt::print("{}\n", line);
      line = "     ";
    }
    line += setting;
  }
  if (choice.settings.empty()) line += " as it chooses itself";
  fmt::print("{}\n", line);
}

void print_unit(const TunedUnit& unit) {
  const Found& found = *unit.found;
  fmt::print("{:<40} {:>9.4f} {:>9.4f} {:>6.2f}x  {}\n", name_of_nodes(unit.nodes, 40),
             found.own * 1e3, found.time * 1e3, found.own / found.time,
             unit.kept ? "used" : "not used");
  print_choice(found.choice);
}

/// Prints which values lie otherwise than usual.
void print_layouts(const std::vector<ChosenLayout>& layouts) {
  for (const ChosenLayout& layout : layouts) {
    std::string block = layout.all ? "all" : fmt::format("{}", layout.block);
    fmt::print("{:<36} {}{} channels side by side, not {}\n", name_of_nodes(layout.nodes, 36),
               layout.is_copy ? "copied: " : "", block, layout.usual);
  }
}

void print_text(const std::string& network, const TunedWhere& where, const TuneReport& report) {
  auto found = std::count_if(report.units.begin(), report.units.end(),
                             [](const TunedUnit& unit) { return unit.found.has_value(); });
  auto others = static_cast<long>(report.units.size()) - found;
  std::string workers =
      !where.gpu.empty() ? where.gpu
                         : fmt::format("{} thread{}", where.threads, where.threads == 1 ? "" : "s");
  if (found == 0) {
    fmt::print("{}, {}: nothing better than the templates' own choices is known\n", network,
               workers);
  } else {
    fmt::print("{:<40} {:>9} {:>9} {:>7}\n", network + ", " + workers, "own ms", "tuned ms",
               "gain");
    for (const TunedUnit& unit : report.units) {
      if (unit.found) print_unit(unit);
    }
    if (others > 0) {
      fmt::print("{} other kind{} of layers: as the templates choose\n", others,
                 others == 1 ? "" : "s");
    }
  }
  print_layouts(report.layouts);
  if (report.trials > 0) {
    fmt::print("tried       {} candidates, {} failed{}\n", report.trials, report.failed,
               report.stopped ? "; stopped before the end" : "");
  }
  if (report.own > 0) {
    fmt::print("network     {:.3f} ms untuned, {:.3f} ms tuned: {:.3f}x{}\n", report.own * 1e3,
               report.tuned * 1e3, report.own / report.tuned,
               report.kept ? "" : "; what is new was not kept");
  }
}

}  // namespace

std::string name_of_nodes(const std::vector<std::string>& nodes, size_t width) {
  std::string more = nodes.size() > 1 ? fmt::format(" (+{})", nodes.size() - 1) : "";
  std::string name = nodes.front();
  size_t room = width - more.size();
  if (name.size() > room) name = name.substr(0, room - 3) + "...";
  return name + more;
}

void print_tuned(const std::string& network, const TunedWhere& where, const TuneReport& report,
                 Print how) {
  if (how == Print::json) {
    fmt::print("{}\n", to_json(network, where, report).dump());
  } else {
    print_text(network, where, report);
  }
}

}  // namespace lathe::cli
