// verb_nest.cpp: what the verbs about one nest share. Interface: verb_nest.h.
#include "cli/verb_nest.h"

#include <fmt/ranges.h>

namespace lathe {
namespace {

std::string print_ratio(long before, long after) {
  if (before == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(after) / static_cast<double>(before));
}

}  // namespace

void add_nest_arguments(Command& app, NestArguments& arguments) {
  app.add_option("NEST", arguments.nest, "an operator, like conv(co=64, ...), or a .nest file")
      ->required();
  app.add_option("RECIPE", arguments.recipe,
                 "steps, like 'split(co, 16) -> group(2)', or a .json file of steps");
  app.add_option("--max-error", arguments.limits.error,
                 "refuse steps that round more, as a multiple of the outputs' root mean square")
      ->check(non_negative_number());
}

std::string print_loops_line(const Order& order) {
  std::string out;
  for (const Loop& loop : order.loops) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", loop.name, loop.extent);
    if (loop.mark != Mark::serial) out += fmt::format(" {}", name_of(loop.mark));
  }
  return out;
}

std::string print_costs(const Cost& before, const Cost& after) {
  std::string out = fmt::format("{:<12}{:>16}{:>16}{:>9}\n", "cost", "before", "after", "ratio");
  auto row = [&](const char* name, long b, long a) {
    out += fmt::format("{:<12}{:>16}{:>16}{:>9}\n", name, print_count(b), print_count(a),
                       print_ratio(b, a));
  };
  row("instances", before.instances, after.instances);
  row("MACs", before.macs, after.macs);
  row("weights", before.weights, after.weights);
  row("bytes", before.bytes, after.bytes);
  return out;
}

std::string print_verdict(const Verdict& verdict, size_t indent) {
  std::string margin(indent, ' ');
  std::string out = fmt::format("{}{}", margin, name_of(verdict.kind));
  if (!verdict.reason.empty()) {
    out += ": " + wrapped(verdict.reason, indent + 2, out.size() + 2);
  }
  out += "\n";
  if (!verdict.evidence.empty()) {
    out += fmt::format("{}  {}\n", margin, wrapped(verdict.evidence, indent + 4, indent + 2));
  }
  return out;
}

}  // namespace lathe
