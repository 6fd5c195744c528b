// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default, as "lathe calibrate resnet34-cifar --table networks.csv --write-rule FILE" wrote it
/// (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "deviation": 0.7452,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.06032
    },
    {
      "form": "log_distance",
      "metric": "fisher",
      "weight": -0.04105
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1183
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.05104
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.5396
    },
    {
      "form": "layers_distance",
      "metric": "macs",
      "weight": -0.4398
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.1223
    },
    {
      "form": "moved",
      "metric": "jacob_cov",
      "weight": -0.1232
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.8115
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -2.385
    }
  ],
  "intercept": 1.057,
  "lathe_rule": 1,
  "layer_band": 1.258,
  "name": "two-sided",
  "network_band": 0.8214,
  "source": "37 networks made of resnet34-cifar, trained; 64 samples of cifar10, 3 seeds; area 0.90 and rank correlation 0.84 when each is left out",
  "tolerance": 0.5
}
)json";

/// The published rule (Turner, Crowley, O'Boyle, ASPLOS 2021): the score must not fall.
inline constexpr const char* paper_rule = R"json(
{
  "features": [
    {
      "form": "log_ratio",
      "metric": "fisher",
      "weight": 1
    }
  ],
  "lathe_rule": 2,
  "name": "paper",
  "paper": true,
  "source": "Turner, Crowley, O'Boyle, ASPLOS 2021"
}
)json";

}  // namespace lathe
