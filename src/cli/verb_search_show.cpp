// verb_search_show.cpp: what a search shows. Interface: verb_search_show.h.
#include "cli/verb_search_show.h"

#include <unistd.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "capacity/gate.h"
#include "cli/verb_nest.h"
#include "cli/verb_network.h"

namespace lathe::cli {
namespace {

void event(const nlohmann::json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

void line(const char* what, const std::string& text) { fmt::print("{:<14}{}\n", what, text); }

void print_checks(const ResultWinner& winner) {
  if (!winner.checks) {
    line("unchecked", "the journal does not say what was compared");
    return;
  }
  line("checked", print_checked(*winner.checks));
  line("unchecked", print_unchecked(*winner.checks));
  if (winner.original_checks && !winner.original_checks->unchecked.empty()) {
    line("", "of the original: " + print_unchecked(*winner.original_checks));
  }
}

std::string print_verdict(const ResultVerdict& verdict, const ResultRule& rule) {
  std::string interval =
      verdict.interval
          ? fmt::format(" ({:.3g} to {:.3g})", verdict.interval->at(0), verdict.interval->at(1))
          : ", one seed";
  return fmt::format("{} {:.3g} times the original's{}; {}{}", rule.score_name(), verdict.ratio,
                     interval, verdict.accepted ? "accepted" : "refused", print_sure(verdict.sure));
}

/// Returns how long a network takes, and how many times faster that is than the original.
std::string print_way(const std::string& way, double ms, double original_ms) {
  return fmt::format("{:<34}{:>9.3f} ms {:>6.2f}x", way, ms, original_ms / ms);
}

/// Prints what each way to a faster network came to: one under the other, the plainest first.
void print_ways(const SearchResult& result) {
  if (!result.blocks) return;
  const ResultWinner& winner = result.winner;
  const char* tuned = winner.tuned ? "original, tuned" : "original";
  line("ways", print_way(fmt::format("compiler alone ({})", tuned), winner.original_ms,
                         winner.original_ms));
  for (const ResultBaseline& each : result.blocks->ways) {
    std::string way = fmt::format("list of blocks ({})", each.way);
    line("", each.ms ? print_way(way, each.ms_beside(winner.original_ms), winner.original_ms)
                     : fmt::format("{:<34}none of {} passed", way, each.tried));
  }
  line("", print_way(way_of_winner(result), winner.ms, winner.original_ms));
  size_t most = 0;
  for (const ResultKind& kind : result.kinds) most = std::max(most, kind.variants.size());
  line("", fmt::format("the list has up to {} blocks a layer, 10^{:.1f} networks",
                       result.blocks->most, result.blocks->log_networks));
  if (result.log_networks && result.strategy != "nas") {
    line("", fmt::format("Lathe chose from up to {} variants, 10^{:.1f} networks", most,
                         *result.log_networks));
  }
}

/// Prints what each family contributes: how fast the network could be without it.
void print_families(const SearchResult& result) {
  if (!result.families || result.families->empty()) return;
  const char* head = "families";
  for (const ResultFamilies& each : *result.families) {
    line(std::exchange(head, ""), print_way(each.families, each.ms, each.original_ms));
  }
  std::string text = fmt::format("by the tables, at the same loss; everything uses {}",
                                 fmt::join(result.families->front().used, ", "));
  for (const ResultFamilies& each : *result.families) {
    if (each.families != "its own") continue;
    text +=
        fmt::format("; the winner {}: what hardly pays is left out", fmt::join(each.used, ", "));
  }
  line("", wrapped(text, 14, 14));
}

/// Prints how fast the networks are with all layers in one precision.
void print_precisions(const SearchResult& result) {
  if (!result.precisions) return;
  const char* head = "precision";
  double own = result.winner.original_ms;
  auto show = [&](const std::string& what, const std::string& precision, double ms, double beside,
                  const std::string& more) {
    line(std::exchange(head, ""),
         fmt::format("{} in {:<5} {:.3f} ms, {:.2f} times faster{}", what, precision + ":",
                     ms * own / beside, beside / ms, more));
  };
  for (const ResultPrecision& each : *result.precisions) {
    std::string right = each.accuracy ? fmt::format("; {:.1f} %", *each.accuracy) : "";
    show("the original", each.precision, each.ms, each.original_ms, right);
  }
  for (const ResultPrecision& each : *result.precisions) {
    if (!each.winner_ms) continue;
    show("the winner  ", each.precision, *each.winner_ms, each.winner_original_ms.value_or(0), "");
  }
}

void print_comparisons(const SearchResult& result) {
  double faster = result.winner.original_ms / result.winner.ms;
  print_ways(result);
  print_families(result);
  print_precisions(result);
  for (const ResultPeer& peer : result.peers) {
    line(&peer == &result.peers.front() ? "best peer" : "",
         fmt::format("{}, {:.3f} ms for the original: {:.2f} times faster", peer.name, peer.ms,
                     faster * peer.ms / peer.original_ms));
  }
}

void print_reasons(const SearchResult& result) {
  for (const auto& [reason, count] : result.reasons) fmt::print("  {:>6}  {}\n", count, reason);
}

/// Says how the result stands to a limit, and by how much it misses it.
void print_limit(const ResultLimit& limit) {
  auto number = [&](double value) {
    return limit.what == "latency" ? fmt::format("{:.3f} ms", value)
                                   : print_short(std::lround(value));
  };
  std::string how = limit.met ? "kept" : "missed by " + number(limit.reached - limit.limit);
  if (!limit.met && limit.reached <= limit.limit) how = "missed: nothing that keeps it passed";
  line(limit.what.c_str(),
       fmt::format("{}; {} may be: {}", number(limit.reached), number(limit.limit), how));
}

/// Says that nothing was found, and why.
void print_nothing(const SearchResult& result) {
  bool kept =
      !result.limits.empty() && std::all_of(result.limits.begin(), result.limits.end(),
                                            [](const ResultLimit& limit) { return limit.met; });
  if (result.tried == 0 && kept) {
    fmt::print("the original is within the limits: nothing need change, the bundle holds it\n");
  } else {
    fmt::print("nothing faster was found in {} networks; the bundle holds the original\n",
               result.tried);
  }
  print_reasons(result);
  fmt::print("\n");
  for (const ResultLimit& limit : result.limits) print_limit(limit);
}

}  // namespace

SearchTelling::SearchTelling(bool json, long exact)
    : json_(json), is_terminal_(isatty(STDERR_FILENO) != 0), exact_(exact) {}

double SearchTelling::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string SearchTelling::left(const WorkDone& work) {
  if (work.what != what_) {
    what_ = work.what;
    since_ = seconds();
    before_ = work.done;
  }
  double taken = seconds() - since_;
  if (work.done <= before_ || taken < 1) return "";
  double each = taken / static_cast<double>(work.done - before_);
  return fmt::format(", about {:.0f} s left", each * static_cast<double>(work.all - work.done));
}

void SearchTelling::show(const JobEvent& told) {
  if (!json_) {
    std::visit([this](const auto& each) { show_event(each); }, told);
  } else if (std::optional<nlohmann::json> json = to_json(told)) {
    event(*json);
  }
}

void SearchTelling::show_event(const WorkDone& work) {
  line(fmt::format("{} of {} {}{}", work.done, work.all, work.what, left(work)));
}

void SearchTelling::show_event(const NetworkTried& tried) {
  const Trial& trial = tried.trial;
  Counts& counts = counts_[tried.strategy];
  bool exact = trial.details.contains("verdict");
  bool measured = trial.outcome == Trial::Outcome::measured;
  bool is_new = exact && counts.exact.insert(trial.recipe).second;
  if (measured && !trial.recipe.empty())
    counts.best = std::max(counts.best, trial.own / trial.time);
  if (trial.outcome == Trial::Outcome::refused) ++counts.refused;
  if (trial.outcome == Trial::Outcome::failed) ++counts.failed;
  if (is_new) {
    clear();
    std::string what =
        measured ? fmt::format("{:.3f} ms, {:.2f}x", trial.time * 1e3, trial.own / trial.time)
                 : trial.reason;
    fmt::print(stderr, "{:7.1f} s  {}, network {}: {}, {}\n", seconds(), tried.strategy,
               tried.number, name_of(trial.outcome), what);
  }
  if (is_terminal_ || !exact) {
    line(fmt::format("{}: {} networks, {} refused, {} failed, {} of {} exactly; best {:.2f}x",
                     tried.strategy, tried.number, counts.refused, counts.failed,
                     counts.exact.size(), exact_, counts.best));
  }
}

void SearchTelling::show_event(const TuningGoesOn& tuning) {
  line(fmt::format("tuning {}, {:.0f} s left", tuning.network,
                   std::max(0.0, tuning.seconds - tuning.elapsed)));
}

void SearchTelling::show_event(const JobWarning& warning) {
  clear();
  fmt::print(stderr, "lathe: warning: {}\n", warning.text);
}

void SearchTelling::line(const std::string& text) {
  constexpr double pause = 15;  // seconds between plain lines
  if (is_terminal_) {
    fmt::print(stderr, "\r{:<78.78}", text);
    shown_ = true;
  } else if (seconds() - told_ > pause) {
    told_ = seconds();
    fmt::print(stderr, "{:7.1f} s  {}\n", told_, text);
  }
}

void SearchTelling::clear() {
  if (shown_) fmt::print(stderr, "\r{:78}\r", "");
  shown_ = false;
}

void print_stopped(bool json) {
  if (json) {
    event({{"event", "stopped"}});
  } else {
    fmt::print("stopped; the same command goes on with it\n");
  }
}

void print_result(const SearchResult& result, const std::string& folder) {
  const ResultWinner& winner = result.winner;
  if (!result.found) {
    print_nothing(result);
    print_ways(result);
    line("report", folder + "/report.html");
    return;
  }
  line("latency",
       fmt::format("{:.3f} ms, was {:.3f} ms{}: {:.2f} times faster", winner.ms, winner.original_ms,
                   winner.tuned ? ", both tuned alike" : "", winner.original_ms / winner.ms));
  for (const ResultLimit& limit : result.limits) print_limit(limit);
  print_comparisons(result);
  line("weights", fmt::format("{}, was {}", print_short(winner.weights),
                              print_short(result.original.weights)));
  line("MACs",
       fmt::format("{}, was {}", print_short(winner.macs), print_short(result.original.macs)));
  if (winner.verdict) line("capacity", print_verdict(*winner.verdict, result.rule));
  if (winner.verdict && winner.verdict->caveat && winner.verdict->prediction) {
    line("prediction", wrapped(*winner.verdict->caveat, 14, 14));
    line("",
         fmt::format("{} {:+.1f} to {:+.1f} points, if it holds here; {:.2g} may be lost",
                     result.accuracy && result.accuracy->of == "outputs" ? "outputs" : "accuracy",
                     winner.verdict->prediction->at(0), winner.verdict->prediction->at(1),
                     result.rule.tolerance));
  }
  if (winner.verdict && winner.verdict->predicted) {
    line("prediction",
         fmt::format("accuracy {:+.2f} points, give or take {:.2f}; {:.2g} may be lost",
                     *winner.verdict->predicted, winner.verdict->uncertainty.value_or(0),
                     result.rule.tolerance));
  }
  if (const auto& accuracy = result.accuracy) {
    if (accuracy->of == "outputs") {
      line("outputs", fmt::format("{:.1f} % of what the original's vary, before it is tuned",
                                  accuracy->before));
    } else {
      line("accuracy", fmt::format("{:.1f} % before it is tuned, the original {:.1f} %",
                                   accuracy->before, accuracy->original));
    }
    line("", fmt::format("of {} training images that train.py validates with", accuracy->images));
  }
  double share = 100.0 * static_cast<double>(result.refused) / static_cast<double>(result.tried);
  line("tried", fmt::format("{} networks: {} refused ({:.0f} %), {} failed", result.tried,
                            result.refused, share, result.failed));
  print_checks(winner);
  line("took", fmt::format("{:.0f} s{}", result.seconds, result.stopped ? ", then stopped" : ""));
  auto changed = std::count_if(result.layers.begin(), result.layers.end(),
                               [](const ResultLayer& layer) { return !layer.recipe.empty(); });
  if (result.accuracy) {
    line("to do", fmt::format("tune it: python3 {}/bundle/train.py --data DIR", folder));
  } else {
    line("to do",
         fmt::format("{} layers changed and must be trained: {}/bundle/model.py", changed, folder));
  }
  line("bundle", folder + "/bundle");
  line("report", folder + "/report.html");
}

}  // namespace lathe::cli
