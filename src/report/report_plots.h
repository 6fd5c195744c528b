// The pictures of a report about a search.
//
//   HtmlFigure figure = waterfall(result);
//   html_figure(figure)
//
// A picture that would be empty is not there: the page says why instead.
#pragma once

#include <optional>

#include "report/report_html.h"
#include "report/report_trials.h"
#include "results/search_result.h"

namespace lathe {

/// Where the time went: the original, what each layer saved, the winner. Layers that saved little
/// stand together where there are many.
HtmlFigure waterfall(const SearchResult& result);

/// Latency against the predicted change of accuracy, of networks that passed and were measured;
/// the area of a point is its weights. Nothing where no accuracy was predicted.
std::optional<HtmlFigure> pareto_plot(const SearchResult& result,
                                      const std::vector<NetworkTrial>& trials);

/// Latency against the ratio of scores, of all networks that were tried, and the band in which
/// they pass. Nothing where none was tried.
std::optional<HtmlFigure> gate_plot(const SearchResult& result,
                                    const std::vector<NetworkTrial>& trials);

/// The latency of networks in the order in which they were tried, and the best so far.
std::optional<HtmlFigure> history_plot(const SearchResult& result,
                                       const std::vector<NetworkTrial>& trials);

/// How often each sequence of steps occurs in the winner and in networks that passed.
std::optional<HtmlFigure> sequence_bars(const SearchResult& result,
                                        const std::vector<NetworkTrial>& trials);

/// How many times faster the layers of each kind are in the winner.
std::optional<HtmlFigure> kind_bars(const SearchResult& result);

/// What one kind of layer can become, how long that takes, and whether it was chosen, could have
/// been, or moves the score too far. Nothing where there is no choice.
std::optional<HtmlFigure> variant_bars(const SearchResult& result, const ResultKind& kind,
                                       size_t number);

/// Is a variant alone within what the rule allows of a layer?
bool is_allowed(const ResultRule& rule, const ResultVariant& variant);

/// Returns how many layers of the winner became this variant.
size_t times_chosen(const SearchResult& result, const ResultKind& kind,
                    const ResultVariant& variant);

}  // namespace lathe
