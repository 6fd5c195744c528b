// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote
/// it.
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 1.058,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.007057
    },
    {
      "form": "log_distance",
      "metric": "fisher",
      "weight": -0.2081
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.2003
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.0386
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.8154
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.3195
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.3604
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -2.339
    }
  ],
  "intercept": 0.3559,
  "lathe_rule": 1,
  "layer_band": 1.117,
  "name": "two-sided",
  "network_band": 0.7279,
  "source": "71 networks made of resnet34-cifar, trained; 64 samples of cifar10, 1 seed; area 0.77 and rank correlation 0.66 when each is left out",
  "tolerance": 0.5
}
)json";

}  // namespace lathe
