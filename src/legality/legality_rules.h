// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table 37.csv --table 34.csv --write-rule FILE"
/// wrote it (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 0.9756,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": 0.0
    },
    {
      "form": "log_distance",
      "metric": "fisher",
      "weight": -0.3757
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1866
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.9606
    },
    {
      "form": "moved",
      "metric": "jacob_cov",
      "weight": -0.01204
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -3.21
    }
  ],
  "intercept": 0.5882,
  "lathe_rule": 1,
  "layer_band": 1.147,
  "name": "two-sided",
  "network_band": 0.7589,
  "source": "71 networks made of resnet34-cifar, trained; 64 samples of cifar10, 3 seeds; area 0.79 and rank correlation 0.69 when each is left out",
  "tolerance": 0.5
}
)json";

}  // namespace lathe
