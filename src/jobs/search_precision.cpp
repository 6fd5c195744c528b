// search_precision.cpp: see search_precision.h.
#include "jobs/search_precision.h"

#include "base/error.h"

namespace lathe {
namespace {

/// Why layers cannot have a precision on a machine; "" if they can.
std::string hindrance(Precision precision, const SearchJudge& judge) {
  Target target = native_target();
  // A matrix unit is many times as fast as vectors.
  bool halves = target.has(Extra::f16),
       faster = target.has(Extra::bf16_matrix) && !target.has(Extra::f16_matrix),
       brains = faster || (target.has(Extra::bf16_dot) && !halves);
  switch (precision) {
    case Precision::f32:
      return "";
    case Precision::tf32:
      return "CPUs have no arithmetic for tf32";
    case Precision::f16:
      return halves ? "" : "this processor has no arithmetic for f16";
    case Precision::bf16:
      if (brains) return "";
      return halves ? "f16 is as fast here, and more exact"
                    : "this processor has no arithmetic for bf16";
    case Precision::int8:
      // Networks are judged as trained ones only if there are data (jobs/judging.h).
      return judge.is_trained ? ""
                              : "integers are made for trained weights and for --data; f16 needs "
                                "neither";
  }
  return "";
}

}  // namespace

SearchPrecision::SearchPrecision(const std::string& wanted, const ScoreArguments& arguments,
                                 const SearchJudge& judge, const JobListener& listener)
    : judge_(judge), threads_(workers_of(arguments)), is_any_(wanted == any_precision) {
  if (!arguments.data.starts_with("synthetic")) {
    calibration_.data = arguments.data;
    calibration_.normalize = *normalize_named(arguments.normalize);
  }
  if (!is_any_) {
    offered_ = {*precision_named(wanted)};
    if (original() != Precision::int8) return;
    std::string why = hindrance(Precision::int8, judge);
    if (!why.empty()) fail("--precision int8: {}", why);
    return;
  }
  for (Precision each : {Precision::f32, Precision::f16, Precision::bf16, Precision::int8}) {
    std::string why = hindrance(each, judge);
    if (why.empty()) {
      offered_.push_back(each);
    } else {
      listener(JobWarning{fmt::format("no layer is tried in {}: {}", name_of(each), why)});
    }
  }
}

Graph SearchPrecision::timed(const Graph& network, const NetworkRecipe& recipe,
                             Precision others) const {
  LayerPrecisions precisions = precisions_in(judge_.network, recipe, others);
  if (precisions.are_all(Precision::f32)) return network;
  QuantiseOptions how;
  how.clipping = Clipping::minmax;
  how.timed = true;
  how.watch.target = native_target();
  return narrowed(network, precisions, {}, how).network;
}

Graph SearchPrecision::made(const Graph& network, const NetworkRecipe& recipe,
                            Precision others) const {
  return with_precision(network,
                        {precisions_in(judge_.network, recipe, others), calibration_, threads_})
      .network;
}

std::optional<SearchPrecision::Judged> SearchPrecision::judged(const NetworkRecipe& recipe,
                                                               Precision others) const {
  if (!judge_.is_trained) return std::nullopt;
  FittedNetwork fitted = judge_.fit(recipe);
  if (precisions_in(judge_.network, recipe, others).are_all(Precision::f32)) {
    return Judged{fitted.agreement, 0};
  }
  Agreement now = judge_.agreement_of(made(fitted.fit.network, recipe, others));
  return Judged{now, now.percent - fitted.agreement.percent};
}

}  // namespace lathe
