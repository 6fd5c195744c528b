// optimize.cpp: "lathe optimize NETWORK": a faster network that keeps its capacity, with proof.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "cli/verb_amount.h"
#include "cli/verb_command_line.h"
#include "cli/verb_interruption.h"
#include "cli/verb_peers.h"
#include "cli/verb_scores.h"
#include "cli/verb_search_show.h"
#include "jobs/optimize.h"

namespace lathe::cli {
namespace {

struct Options {
  OptimizeOptions job;
  std::string rule = "two-sided", max_params, max_macs, constraint, budget;
  double tolerance = -1;
  bool json = false;
};

/// Reads how much there may be of something: "9M", "1.2G", "500k" or a number.
long parse_limit(const std::string& option, const std::string& text) {
  if (text.empty()) return std::numeric_limits<long>::max();
  auto amount = parse_amount(text);
  static const std::map<std::string, double> scales{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
  auto scale = amount ? scales.find(amount->unit) : scales.end();
  if (scale == scales.end()) {
    fail("{} {}: write a number, as in 9M, 1.2G or 500000", option, text);
  }
  return std::lround(amount->value * scale->second);
}

/// Reads "latency=2ms", in seconds.
double parse_constraint(const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  constexpr const char* name = "latency=";
  static const std::map<std::string, double> scales{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  if (text.starts_with(name)) {
    auto amount = parse_amount(text.substr(std::strlen(name)));
    auto scale = amount ? scales.find(amount->unit) : scales.end();
    if (scale != scales.end()) return amount->value * scale->second;
  }
  fail("--constraint {}: write what a run may take, as in latency=2ms", text);
}

/// Reads what the whole search may take, in seconds.
double parse_budget(const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  if (auto seconds = parse_duration(text)) return *seconds;
  fail("--budget {}: write a time, as in 90s, 10m or 1h", text);
}

OptimizeOptions job_of(const Options& options) {
  OptimizeOptions job = options.job;
  job.rule = find_rule(options.rule);
  if (options.tolerance >= 0) job.rule.tolerance = options.tolerance;
  job.limits = {parse_limit("--max-params", options.max_params),
                parse_limit("--max-macs", options.max_macs), parse_constraint(options.constraint)};
  job.budget = parse_budget(options.budget);
  job.lathe = own_path();
  job.command = command_line();
  return job;
}

OptimizeResult searched(const Options& options) {
  OptimizeOptions job = job_of(options);
  listen_to_interruptions();
  SearchTelling telling(options.json, job.exact);
  return lathe::optimize(job,
                         {[&](const JobEvent& event) { telling.show(event); }, is_interrupted});
}

int run(const Options& options) {
  OptimizeResult found = searched(options);
  if (!found.result) {
    print_stopped(options.json);
  } else if (options.json) {
    nlohmann::json json = to_json(*found.result);
    json["event"] = "end";
    fmt::print("{}\n", json.dump());
  } else {
    print_result(*found.result, found.folder);
  }
  if (found.stopped) return interrupted_status;
  return is_success(*found.result) ? 0 : 1;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  OptimizeOptions& job = options->job;
  add_network_arguments(app, job.score.network);
  app.add_option("--work-dir", job.folder, "where the search is kept; runs/NETWORK unless told");
  add_data_arguments(app, job.score);
  app.add_option("--strategy", job.strategy, "assign, evolve, random or nas");
  app.add_option("--rule", options->rule, "of the gate: two-sided, or paper");
  app.add_option("--tolerance", options->tolerance,
                 "points of accuracy that the gate may expect to be lost; 0.5 unless told")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--include", job.space.include, "layers that may change: a pattern");
  app.add_option("--exclude", job.space.exclude, "layers that may not");
  app.add_flag("--pointwise", job.space.pointwise, "1x1 convolutions may change, too");
  app.add_flag("--narrow", job.space.narrow,
               "channels may become fewer, with all that make and read them");
  app.add_option("--variants", job.space.most, "of each kind of layer; 0: all there are");
  app.add_option("--trials", job.trials, "networks that are drawn, where a strategy draws")
      ->check(CLI::Range(1L, 10000000L));
  app.add_option("--exact", job.exact, "networks that are evaluated exactly and measured")
      ->check(CLI::Range(1L, 100000L));
  app.add_option("--max-params", options->max_params, "weights of the result, as in 9M");
  app.add_option("--max-macs", options->max_macs, "products of the result, as in 300M");
  app.add_option("--constraint", options->constraint,
                 "latency=2ms: no slower than that, and as accurate as can be");
  app.add_option("--tune", job.tune,
                 "seconds for which the original and the result are tuned at the end; 0: not")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--budget", options->budget,
                 "time for the whole search, as in 10m: fewer variants are looked at and tuning "
                 "is shorter where it is little");
  app.add_option("--against", job.against,
                 "compare with these on the original, too: best, onnxruntime, openvino, ...")
      ->check(CLI::IsMember(peer_names()));
  app.add_flag("!--no-blocks", job.blocks, "do not compare with what a list of blocks can do");
  app.add_option("--threads", job.threads, "workers that the network will run with")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", job.score.network.seed, "of the search, weights and minibatches");
  app.add_flag("--json", options->json, "print events and the result as JSON, a line each");
  return [options] { return run(*options); };
}

}  // namespace

Verb optimize() { return {"optimize", "find a faster network that keeps its capacity", prepare}; }

}  // namespace lathe::cli
