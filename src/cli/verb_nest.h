// What the verbs about one nest share: its arguments, and printing costs and verdicts.
#pragma once

#include <nlohmann/json.hpp>

#include "base/counts.h"
#include "cli/verb.h"
#include "cli/verb_text.h"
#include "jobs/applied.h"
#include "ops/op.h"

namespace lathe {

/// NEST and RECIPE as they were typed.
struct NestArguments {
  std::string nest;
  std::string recipe;
  Limits limits = {};
};

/// Declares NEST, RECIPE and --max-error on "app".
void add_nest_arguments(Command& app, NestArguments& arguments);

/// Prints one statement's loops: "co 64, ci 32, ...".
std::string print_loops_line(const Order& order);

/// Prints the costs of two nests as a table, with their ratio.
std::string print_costs(const Cost& before, const Cost& after);

/// Prints a verdict, wrapped and indented: "exact    reason".
std::string print_verdict(const Verdict& verdict, size_t indent);

}  // namespace lathe
