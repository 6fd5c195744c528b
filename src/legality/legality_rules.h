// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote
/// it.
inline constexpr const char* two_sided_rule = R"json(
{
  "lathe_rule": 1, "name": "two-sided", "source": "not fitted yet",
  "network_band": 0.5, "layer_band": 1.5, "intercept": 0.0,
  "features": [{"metric": "fisher", "form": "distance", "weight": -0.5}],
  "deviation": 1.0, "tolerance": 0.5
}
)json";

}  // namespace lathe
