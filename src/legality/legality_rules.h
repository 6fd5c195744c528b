// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote it
/// (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 0.7453,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.06509
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1073
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.04268
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.9463
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.1001
    },
    {
      "form": "moved",
      "metric": "jacob_cov",
      "weight": -0.1077
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.3642
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -3.199
    }
  ],
  "intercept": 1.085,
  "lathe_rule": 1,
  "layer_band": 1.258,
  "name": "two-sided",
  "network_band": 0.8214,
  "source": "37 networks made of resnet34-cifar, trained; 64 samples of cifar10, 3 seeds; area 0.90 and rank correlation 0.83 when each is left out",
  "tolerance": 0.5
}
)json";

}  // namespace lathe
