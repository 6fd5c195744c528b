// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default: what "lathe calibrate resnet34-cifar --table data/transformed36.json --table
/// data/families27.json --table data/near7.json --test data/families10.json --test
/// data/heldout16.json" fits (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "beyond_first_order": {
    "deviation": 0.0,
    "share": 0.0
  },
  "deviation": 0.6922,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.07036
    },
    {
      "form": "log_distance",
      "metric": "fisher",
      "weight": -0.1765
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1205
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.06387
    },
    {
      "form": "log_ratio",
      "metric": "connected",
      "weight": 0.1398
    },
    {
      "form": "difference",
      "metric": "dead",
      "weight": -1.288
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.459
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -0.8718
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.1339
    },
    {
      "form": "times_less",
      "metric": "macs",
      "weight": -0.05152
    },
    {
      "form": "layers_distance",
      "metric": "macs",
      "weight": -0.1135
    },
    {
      "form": "log_ratio",
      "metric": "units",
      "weight": 0.2983
    },
    {
      "form": "times_less",
      "metric": "units",
      "weight": -0.3659
    },
    {
      "form": "layers_distance",
      "metric": "units",
      "weight": -0.484
    }
  ],
  "lathe_rule": 2,
  "layer_band": 0.9013,
  "name": "two-sided",
  "network_band": 0.6052,
  "origin": {
    "dataset": "cifar10",
    "epochs": 12,
    "network": "resnet34-cifar",
    "structure": "fda1cdac2f912f4d",
    "training": "from scratch"
  },
  "source": "70 networks of transformed36, families27, near7, 64 samples of cifar10, 3 seeds; area 0.89 (0.79 to 0.96) and rank correlation 0.78 (0.63 to 0.86) when each is left out; area 0.87 (0.68 to 1.00) and rank correlation 0.76 (0.49 to 0.91) on 26 networks of families10, heldout16 that took no part",
  "tables": [
    "transformed36",
    "families27",
    "near7"
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
