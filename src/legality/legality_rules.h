// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote
/// it.
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 0.7452,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.06512
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1074
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.04239
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.946
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.1006
    },
    {
      "form": "moved",
      "metric": "jacob_cov",
      "weight": -0.1082
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.3653
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -3.198
    }
  ],
  "intercept": 1.085,
  "lathe_rule": 1,
  "layer_band": 1.258,
  "name": "two-sided",
  "network_band": 0.8216,
  "source": "37 networks made of resnet34-cifar, trained; 64 samples of cifar10, 3 seeds; area 0.90 and rank correlation 0.83 when each is left out",
  "tolerance": 0.5
}
)json";

}  // namespace lathe
