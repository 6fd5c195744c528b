// verb_search_show.cpp: what a search shows. Interface: verb_search_show.h.
#include "cli/verb_search_show.h"

#include <unistd.h>

#include <algorithm>

#include "cli/verb_network.h"

namespace lathe::cli {
namespace {

void event(const nlohmann::json& json) {
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

void line(const char* what, const std::string& text) { fmt::print("{:<14}{}\n", what, text); }

std::string print_verdict(const ResultVerdict& verdict) {
  std::string interval =
      verdict.interval.size() == 2
          ? fmt::format(" ({:.3g} to {:.3g})", verdict.interval[0], verdict.interval[1])
          : "";
  return fmt::format("fisher {:.3g} times the original's{}; {}, {:.0f} % sure", verdict.ratio,
                     interval, verdict.accepted ? "accepted" : "refused", 100 * verdict.sure);
}

void print_comparisons(const SearchResult& result) {
  double faster = result.winner.original_ms / result.winner.ms;
  if (result.nas) {
    line("blocks alone", fmt::format("{:.2f} times faster, by a choice from a list of blocks (nas)",
                                     result.nas->original_ms / result.nas->ms));
  }
  for (const ResultPeer& peer : result.peers) {
    line(&peer == &result.peers.front() ? "best peer" : "",
         fmt::format("{}, {:.3f} ms for the original: {:.2f} times faster", peer.name, peer.ms,
                     faster * peer.ms / peer.original_ms));
  }
}

void print_reasons(const SearchResult& result) {
  for (const auto& [reason, count] : result.reasons) fmt::print("  {:>6}  {}\n", count, reason);
}

}  // namespace

SearchTelling::SearchTelling(bool json, long exact)
    : json_(json), is_terminal_(isatty(STDERR_FILENO) != 0), exact_(exact) {}

double SearchTelling::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string SearchTelling::left(const TableProgress& progress) {
  if (progress.what != what_) {
    what_ = progress.what;
    since_ = seconds();
    before_ = progress.done;
  }
  double taken = seconds() - since_;
  if (progress.done <= before_ || taken < 1) return "";
  double each = taken / static_cast<double>(progress.done - before_);
  return fmt::format(", about {:.0f} s left",
                     each * static_cast<double>(progress.all - progress.done));
}

void SearchTelling::show(const TableProgress& progress) {
  if (json_) {
    event({{"event", "progress"},
           {"what", progress.what},
           {"done", progress.done},
           {"of", progress.all}});
    return;
  }
  line(fmt::format("{} of {} {}{}", progress.done, progress.all, progress.what, left(progress)));
}

void SearchTelling::show(const Trial& trial, long number) {
  bool exact = trial.details.contains("verdict");
  bool measured = trial.outcome == Trial::Outcome::measured;
  if (measured) best_ = std::max(best_, trial.own / trial.time);
  if (exact) ++tried_;
  if (trial.outcome == Trial::Outcome::refused) ++refused_;
  if (trial.outcome == Trial::Outcome::failed) ++failed_;
  if (json_) {
    if (!exact) return;
    event({{"event", "trial"},
           {"number", number},
           {"outcome", name_of(trial.outcome)},
           {"reason", trial.reason},
           {"ms", trial.time * 1e3},
           {"original_ms", trial.own * 1e3}});
    return;
  }
  // A strategy that draws may draw one that was tried.
  if (exact && told_of_.insert(trial.recipe).second) {
    clear();
    std::string what =
        measured ? fmt::format("{:.3f} ms, {:.2f}x", trial.time * 1e3, trial.own / trial.time)
                 : trial.reason;
    fmt::print(stderr, "{:7.1f} s  network {}: {}, {}\n", seconds(), number, name_of(trial.outcome),
               what);
  }
  if (is_terminal_ || !exact) {
    line(fmt::format("{} networks: {} refused, {} failed, {} of {} exactly; best {:.2f}x", number,
                     refused_, failed_, tried_, exact_, best_));
  }
}

void SearchTelling::show_tuning(const std::string& network, double elapsed, double all) {
  if (json_) return;
  line(fmt::format("tuning {}, {:.0f} s left", network, std::max(0.0, all - elapsed)));
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

void print_result(const SearchResult& result, const std::string& folder) {
  const ResultWinner& winner = result.winner;
  if (!result.found) {
    fmt::print("nothing faster was found in {} networks; the bundle holds the original\n",
               result.tried);
    print_reasons(result);
    fmt::print("\n");
    line("report", folder + "/report.html");
    return;
  }
  line("latency",
       fmt::format("{:.3f} ms, was {:.3f} ms{}: {:.2f} times faster", winner.ms, winner.original_ms,
                   winner.tuned ? ", both tuned alike" : "", winner.original_ms / winner.ms));
  print_comparisons(result);
  line("weights", fmt::format("{}, was {}", print_short(winner.weights),
                              print_short(result.original.weights)));
  line("MACs",
       fmt::format("{}, was {}", print_short(winner.macs), print_short(result.original.macs)));
  if (winner.verdict) line("capacity", print_verdict(*winner.verdict));
  if (winner.verdict && winner.verdict->predicted) {
    line("prediction",
         fmt::format("accuracy {:+.2f} points, give or take {:.2f}; {:.2g} may be lost",
                     *winner.verdict->predicted, winner.verdict->uncertainty.value_or(0),
                     result.rule.tolerance));
  }
  double share = 100.0 * static_cast<double>(result.refused) / static_cast<double>(result.tried);
  line("tried", fmt::format("{} networks: {} refused ({:.0f} %), {} failed", result.tried,
                            result.refused, share, result.failed));
  line("took", fmt::format("{:.0f} s{}", result.seconds, result.stopped ? ", then stopped" : ""));
  auto changed = std::count_if(result.layers.begin(), result.layers.end(),
                               [](const ResultLayer& layer) { return !layer.recipe.empty(); });
  line("to do",
       fmt::format("{} layers changed and must be trained: {}/bundle/model.py", changed, folder));
  line("bundle", folder + "/bundle");
  line("report", folder + "/report.html");
}

}  // namespace lathe::cli
