// Numbers and sentences of a report about a search.
//
//   print_ms(0.02643) = "0.0264 ms"      print_amount(2912345) = "2.9M"
//   headline(result) = "resnet34-cifar: 3.83 times faster"
#pragma once

#include <string>

#include "results/search_result.h"

namespace lathe {

/// Prints three significant digits, without an exponent.
std::string print_digits(double value);

/// Prints milliseconds with their unit.
std::string print_ms(double ms);

/// Prints how many there are of something: 512, 272k, 2.9M, 1.16G.
std::string print_amount(long count);

/// Prints a change with its sign, a true minus: "−0.40", "+1.2".
std::string print_change(double value, int decimals = 2);

/// Prints a text recipe as the paper does: split(co, 16) → group(2).
std::string print_arrows(std::string recipe);

/// Returns how many times faster the winner is, from a run in which both took turns.
double speedup(const SearchResult& result);

/// Returns how many layers the winner changed.
size_t changed_layers(const SearchResult& result);

/// Returns the line that the page begins with.
std::string headline(const SearchResult& result);
/// Returns the sentence below it.
std::string lead(const SearchResult& result);

/// Says what the numbers do not promise: accuracy is predicted, and changed layers are untrained.
std::string caution(const SearchResult& result);

/// Counts reasons as one if they differ in numbers and names only; dots replace these. The most
/// frequent reason comes first.
std::vector<std::pair<std::string, long>> reasons_alike(const std::map<std::string, long>& reasons);

}  // namespace lathe
