// What families contribute: how fast a network could be without them, by the same tables and with
// the same prediction.
#pragma once

#include "strategies/strategy.h"

namespace lathe {

/// The fastest network that some families can make.
struct AblationWay {
  std::string families;           ///< "everything", "its own", "groups only", "all but shuffled"
  double time = 0;                ///< seconds, by the tables
  double predicted = 0;           ///< points of accuracy, by the tables
  std::vector<std::string> used;  ///< families, each of which some layer uses
};

/// Chooses with all families; with those that the winner uses, if it leaves some out that hardly
/// pay; with groups only; and without each family that the first choice uses. Each choice begins at
/// "winner", less what it must not use. Nothing is measured. The first way is "everything"; empty
/// if the tables do not accept that.
std::vector<AblationWay> ablation(const StrategyInput& input, const Assignment& winner);

}  // namespace lathe
