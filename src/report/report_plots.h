// The pictures of a report about a search.
//
//   HtmlFigure figure = waterfall(result);
//   html_figure(figure)
//
// A picture that would be empty is left out: the page says why instead.
#pragma once

#include <optional>

#include "report/report_html.h"
#include "report/report_trials.h"
#include "results/search_result.h"

namespace lathe {

/// Draws where the time went: the original, what each layer saved, the winner. Where there are many
/// layers, those that saved little share a bar.
HtmlFigure waterfall(const SearchResult& result);

/// Draws latency against the predicted change of accuracy, for networks that passed and were
/// measured. The area of a point stands for its weights. Returns nothing if no accuracy was
/// predicted.
std::optional<HtmlFigure> pareto_plot(const SearchResult& result,
                                      const std::vector<NetworkTrial>& trials);

/// Draws latency against the ratio of scores, for all networks that were tried, and the band in
/// which they pass. Returns nothing if none was tried.
std::optional<HtmlFigure> gate_plot(const SearchResult& result,
                                    const std::vector<NetworkTrial>& trials);

/// Draws the latency of networks in the order in which they were tried, and the best so far.
std::optional<HtmlFigure> history_plot(const SearchResult& result,
                                       const std::vector<NetworkTrial>& trials);

/// Draws how often each sequence of steps occurs in the winner and in networks that passed.
std::optional<HtmlFigure> sequence_bars(const SearchResult& result,
                                        const std::vector<NetworkTrial>& trials);

/// Draws how many times faster the layers of each kind are in the winner.
std::optional<HtmlFigure> kind_bars(const SearchResult& result);

/// Draws what one kind of layer can become and how long each variant takes. Colours say whether a
/// variant was chosen, could have been chosen, or moves the score too far. Returns nothing if there
/// is no choice.
std::optional<HtmlFigure> variant_bars(const SearchResult& result, const ResultKind& kind,
                                       size_t number);

/// Does the rule allow this variant, judged by its layer alone?
bool is_allowed(const ResultRule& rule, const ResultVariant& variant);

/// Returns how many layers of the winner became this variant.
size_t times_chosen(const SearchResult& result, const ResultKind& kind,
                    const ResultVariant& variant);

}  // namespace lathe
