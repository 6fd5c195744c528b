// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default: what "lathe calibrate resnet34-cifar --table data/transformed36.json --table
/// data/families27.json --test data/families10.json --test data/heldout16.json" fits
/// (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "beyond_first_order": {
    "deviation": 0.0,
    "share": 0.0
  },
  "deviation": 0.7277,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.2235
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.117
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.003419
    },
    {
      "form": "log_ratio",
      "metric": "connected",
      "weight": 0.2599
    },
    {
      "form": "difference",
      "metric": "dead",
      "weight": -1.147
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -1.377
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.2402
    },
    {
      "form": "log_ratio",
      "metric": "units",
      "weight": 0.9276
    },
    {
      "form": "layers_distance",
      "metric": "units",
      "weight": -0.6198
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
  "source": "63 networks of transformed36, families27, 64 samples of cifar10, 3 seeds; area 0.87 (0.77 to 0.95) and rank correlation 0.73 (0.60 to 0.82) when each is left out; area 0.84 (0.62 to 1.00) and rank correlation 0.69 (0.37 to 0.88) on 26 networks of families10, heldout16 that took no part",
  "tables": [
    "transformed36",
    "families27"
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
