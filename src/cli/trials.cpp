// trials.cpp: "lathe trials FOLDER": what a search tried, and what came of it.
#include "jobs/trials.h"

#include <nlohmann/json.hpp>

#include "cli/verb_network.h"

namespace lathe::cli {
namespace {

struct TrialsArgs {
  std::string folder;
  bool json = false, csv = false;
};

/// Quotes a field of a CSV file where it must be.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

void print_csv(const std::vector<RecordedTrial>& trials) {
  fmt::print("number,at,subject,outcome,ms,original_ms,recipe,reason\n");
  for (const auto& [number, at, trial] : trials) {
    fmt::print("{},{},{},{},{:.6g},{:.6g},{},{}\n", number, at, quoted(trial.subject),
               name_of(trial.outcome), trial.time * 1e3, trial.own * 1e3, quoted(trial.recipe),
               quoted(trial.reason));
  }
}

void print_table(const std::vector<RecordedTrial>& trials) {
  fmt::print("{:>5} {:<22} {:<8} {:>8} {:>7}  {}\n", "", "what", "", "ms", "", "recipe");
  for (const auto& [number, at, trial] : trials) {
    std::string gain = trial.time > 0 ? fmt::format("{:.2f}x", trial.own / trial.time) : "";
    std::string time = trial.time > 0 ? fmt::format("{:.3f}", trial.time * 1e3) : "";
    std::string text = trial.recipe.empty() ? "as it was" : trial.recipe;
    std::replace(text.begin(), text.end(), '\n', ';');
    if (text.size() > 26) text = text.substr(0, 23) + "...";
    fmt::print("{:>5} {:<22.22} {:<8} {:>8} {:>7}  {}\n", number, trial.subject,
               name_of(trial.outcome), time, gain, text);
  }
}

int run_trials(const TrialsArgs& options) {
  JournalRecord record = read_journal(options.folder);
  if (options.json) {
    fmt::print("{}\n", to_json(record).dump(2));
  } else if (options.csv) {
    print_csv(record.trials);
  } else {
    print_table(record.trials);
  }
  return 0;
}

std::function<int()> set_up_trials(Command& app) {
  auto options = std::make_shared<TrialsArgs>();
  app.add_option("FOLDER", options->folder, "the folder that 'lathe optimize' wrote")->required();
  auto* json = app.add_flag("--json", options->json, "print JSON, with all that is known");
  app.add_flag("--csv", options->csv, "print a table for spreadsheets")->excludes(json);
  return [options] { return run_trials(*options); };
}

}  // namespace

Verb trials() {
  return {"trials", "list what a search tried", set_up_trials, "lathe trials runs/r18 --csv"};
}

}  // namespace lathe::cli
