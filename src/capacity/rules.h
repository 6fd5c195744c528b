// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default: what "lathe calibrate resnet34-cifar --table data/transformed36.json --test
/// data/heldout16.json" fits (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "beyond_first_order": {
    "deviation": 0.1047,
    "share": 0.03878
  },
  "deviation": 0.9412,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.1398
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.08195
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -2.6
    },
    {
      "form": "difference",
      "metric": "jacob_cov",
      "weight": 0.2084
    },
    {
      "form": "moved",
      "metric": "jacob_cov",
      "weight": -0.07821
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.3656
    }
  ],
  "lathe_rule": 2,
  "layer_band": 1.292,
  "name": "two-sided",
  "network_band": 0.8386,
  "origin": {
    "dataset": "cifar10",
    "epochs": 12,
    "network": "resnet34-cifar",
    "structure": "fda1cdac2f912f4d",
    "training": "from scratch"
  },
  "source": "36 networks of transformed36, 64 samples of cifar10, 3 seeds; area 0.90 (0.78 to 0.99) and rank correlation 0.81 (0.63 to 0.91) when each is left out; area 0.68 (0.20 to 1.00) and rank correlation 0.45 (-0.05 to 0.85) on 16 networks of heldout16 that took no part",
  "tables": [
    "transformed36"
  ],
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
