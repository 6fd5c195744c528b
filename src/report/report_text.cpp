// report_text.cpp: numbers and sentences. Interface: report_text.h.
#include "report/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "capacity/gate.h"

namespace lathe {
namespace {

std::string capacity(const ResultVerdict& verdict) {
  return fmt::format("{} ({}{})", verdict.accepted ? "capacity kept" : "capacity not kept",
                     verdict.accepted ? "accepted" : "refused", print_sure(verdict.sure));
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string plural(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Returns a reason without its numbers, and without names in quotes.
std::string without_numbers(const std::string& reason) {
  static const std::regex particular("'[^']*'(?!s)|[-+]?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  return std::regex_replace(reason, particular, "…");
}

/// Says how often the network is right, as far as that is known.
std::string print_accuracy(const ResultAccuracy& accuracy, const std::string& to_do) {
  std::string text = "Its weights were fitted to what the original computes: before it is tuned ";
  if (accuracy.of == "outputs") {
    text += fmt::format(
        "it explains {:.1f} % of what the original's outputs vary on {} validation images.",
        accuracy.before, accuracy.images);
    if (!accuracy.tuned) return to_do + " " + text;
    return text + fmt::format(" Tuned for {} epochs it explains {:.2f} % on the test images.",
                              accuracy.epochs.value_or(0), *accuracy.tuned);
  }
  text += fmt::format("it is right on {:.1f} % of {} validation images, the original on {:.1f} %.",
                      accuracy.before, accuracy.images, accuracy.original);
  if (!accuracy.tuned) return to_do + " " + text;
  return text +
         fmt::format(" Tuned for {} epochs it is right on {:.2f} % of the test images",
                     accuracy.epochs.value_or(0), *accuracy.tuned) +
         (accuracy.tuned_original
              ? fmt::format(", the original on {:.2f} %.", *accuracy.tuned_original)
              : ".");
}

}  // namespace

std::string print_digits(double value) {
  double size = std::abs(value);
  if (size == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  int decimals = 2 - static_cast<int>(std::floor(std::log10(size) + 1e-9));
  return fmt::format("{:.{}f}", value, std::clamp(decimals, 0, 9));
}

std::string print_ms(double ms) { return print_digits(ms) + " ms"; }

std::string print_amount(long count) {
  auto value = static_cast<double>(count);
  if (value < 1e3) return fmt::format("{}", count);
  if (value < 1e6) return fmt::format("{:.{}f}k", value / 1e3, value < 1e4 ? 1 : 0);
  if (value < 1e9) return fmt::format("{:.{}f}M", value / 1e6, value < 1e8 ? 1 : 0);
  return fmt::format("{:.2f}G", value / 1e9);
}

std::string print_change(double value, int decimals) {
  std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  return is_zero ? digits : (value < 0 ? "−" : "+") + digits;
}

std::string print_arrows(std::string recipe) {
  for (size_t at = 0; (at = recipe.find("->", at)) != std::string::npos;) {
    recipe.replace(at, 2, "→");
  }
  return recipe;
}

double speedup(const SearchResult& result) {
  const ResultWinner& winner = result.winner;
  return winner.ms > 0 && winner.original_ms > 0 ? winner.original_ms / winner.ms : 1;
}

size_t changed_layers(const SearchResult& result) {
  return static_cast<size_t>(
      std::count_if(result.layers.begin(), result.layers.end(),
                    [](const ResultLayer& layer) { return !layer.recipe.empty(); }));
}

std::string headline(const SearchResult& result) {
  if (!result.found) return result.network + ": nothing faster was found";
  return fmt::format("{}: {:.2f} times faster", result.network, speedup(result));
}

std::string lead(const SearchResult& result) {
  std::string text;
  if (result.found) {
    text = fmt::format("{} instead of {}; ", print_ms(result.winner.ms),
                       print_ms(result.winner.original_ms));
    if (result.winner.verdict) text += capacity(*result.winner.verdict) + "; ";
    text += fmt::format("{} weights instead of {}.", print_amount(result.winner.weights),
                        print_amount(result.original.weights));
  } else {
    text = fmt::format(
        "Of {} networks that were tried, {} were refused and {} failed; none that passed when it "
        "was "
        "evaluated exactly is faster than the original, which takes {}. The bundle holds the "
        "original.",
        result.tried, result.refused, result.failed, print_ms(result.original.ms));
  }
  if (result.stopped) {
    text += " The search was interrupted: this is the best so far, and the same command goes on.";
  }
  return text;
}

std::string caution(const SearchResult& result) {
  size_t changed = changed_layers(result);
  if (!result.found || changed == 0) {
    return "No layer was changed: the network is the original, with its weights.";
  }
  std::string text =
      fmt::format("{} of {} changed, and must be trained before the network is used.", changed,
                  plural(result.layers.size(), "layer"));
  if (const auto& accuracy = result.accuracy) text = print_accuracy(*accuracy, text);
  if (result.accuracy && result.accuracy->tuned) return text;
  const auto& verdict = result.winner.verdict;
  if (verdict && verdict->predicted) {
    text += fmt::format(
        " The change of accuracy, {} points, is a prediction, give or take {:.2f}: nobody has "
        "trained this network.",
        print_change(*verdict->predicted), verdict->uncertainty.value_or(0));
  } else if (verdict && verdict->caveat && verdict->prediction) {
    text += fmt::format(" {}. If it holds here, the accuracy changes by {} to {} points.",
                        capitalised(*verdict->caveat), print_change(verdict->prediction->at(0)),
                        print_change(verdict->prediction->at(1)));
  } else {
    text += " Nothing here is a measured accuracy: nobody has trained this network.";
  }
  return text;
}

std::vector<std::pair<std::string, long>> reasons_alike(
    const std::map<std::string, long>& reasons) {
  std::map<std::string, std::vector<std::string>> alike;
  for (const auto& [reason, count] : reasons) alike[without_numbers(reason)].push_back(reason);
  std::vector<std::pair<std::string, long>> result;
  for (const auto& [form, members] : alike) {
    long count = 0;
    for (const std::string& member : members) count += reasons.at(member);
    result.emplace_back(members.size() == 1 ? members[0] : form, count);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return result;
}

}  // namespace lathe
