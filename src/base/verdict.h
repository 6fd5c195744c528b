// The judgement of one step: accepted as exact, accepted as neural, or refused with the evidence.
#pragma once

#include <string>

namespace lathe {

/// What became of a step, and why.
struct Verdict {
  enum class Kind {
    exact,    ///< the same values are computed (floating-point sums may be re-associated)
    rounded,  ///< the same values up to rounding, within a bound that the reason states
    neural,   ///< other values are computed: capacity decides, not dependences
    refused,  ///< a dependence would be broken, or more is rounded than is allowed
  };
  Kind kind = Kind::exact;
  std::string reason;    ///< one sentence
  std::string evidence;  ///< for a refusal: a pair of instances that would run in the wrong order

  bool accepted() const { return kind != Kind::refused; }
};

/// Names a kind of verdict: "exact", "exact up to rounding", "neural" or "refused".
inline const char* name_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::exact:
      return "exact";
    case Verdict::Kind::rounded:
      return "exact up to rounding";
    case Verdict::Kind::neural:
      return "neural";
    case Verdict::Kind::refused:
      return "refused";
  }
  return "";
}

}  // namespace lathe
