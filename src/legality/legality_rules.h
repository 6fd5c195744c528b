// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote
/// it.
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 1.009,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.2948
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.8722
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.768
    }
  ],
  "intercept": 0.4453,
  "lathe_rule": 1,
  "layer_band": 1.258,
  "name": "two-sided",
  "network_band": 0.8216,
  "source": "37 networks made of resnet34-cifar, trained for 12 epochs; 64 samples of cifar10, 3 seeds; area 0.73 and rank correlation 0.63 when each is left out",
  "tolerance": 0.5
}
)json";

}  // namespace lathe
