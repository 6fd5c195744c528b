// Rules that were fitted, as data.
#pragma once

namespace lathe {

/// The default: what "lathe calibrate resnet34-cifar --table data/transformed36.json --table
/// data/families27.json --table data/near7.json --table data/mixing14.json --test
/// data/families10.json --test data/heldout16.json" fits (docs/08_capacity.md).
inline constexpr const char* two_sided_rule = R"json(
{
  "beyond_first_order": {
    "deviation": 0.0,
    "share": 0.0
  },
  "deviation": 0.7275,
  "features": [
    {
      "form": "distance",
      "metric": "fisher",
      "weight": -0.0754
    },
    {
      "form": "log_distance",
      "metric": "fisher",
      "weight": -0.2359
    },
    {
      "form": "layers_distance",
      "metric": "fisher",
      "weight": -0.1347
    },
    {
      "form": "worst_distance",
      "metric": "fisher",
      "weight": -0.07639
    },
    {
      "form": "log_ratio",
      "metric": "across",
      "weight": 0.5635
    },
    {
      "form": "difference",
      "metric": "dead",
      "weight": -1.14
    },
    {
      "form": "difference",
      "metric": "diversity",
      "weight": 0.4723
    },
    {
      "form": "moved",
      "metric": "diversity",
      "weight": -0.9114
    },
    {
      "form": "times_less",
      "metric": "inputs",
      "weight": -0.3022
    },
    {
      "form": "log_ratio",
      "metric": "macs",
      "weight": 0.1539
    },
    {
      "form": "times_less",
      "metric": "macs",
      "weight": -0.04791
    },
    {
      "form": "layers_distance",
      "metric": "macs",
      "weight": -0.1505
    },
    {
      "form": "log_ratio",
      "metric": "neighbours",
      "weight": 0.311
    },
    {
      "form": "log_ratio",
      "metric": "units",
      "weight": 0.2691
    },
    {
      "form": "times_less",
      "metric": "units",
      "weight": -0.3256
    },
    {
      "form": "layers_distance",
      "metric": "units",
      "weight": -0.4911
    }
  ],
  "lathe_rule": 2,
  "layer_band": 0.8185,
  "name": "two-sided",
  "network_band": 0.553,
  "origin": {
    "dataset": "cifar10",
    "epochs": 12,
    "network": "resnet34-cifar",
    "structure": "fda1cdac2f912f4d",
    "training": "from scratch"
  },
  "source": "84 networks of transformed36, families27, near7, mixing14, 64 samples of cifar10, 3 seeds; area 0.90 (0.81 to 0.97) and rank correlation 0.79 (0.67 to 0.86) when each is left out; area 0.90 (0.77 to 1.00) and rank correlation 0.74 (0.47 to 0.87) on 26 networks of families10, heldout16 that took no part",
  "tables": [
    "transformed36",
    "families27",
    "near7",
    "mixing14"
  ],
  "tolerance": 0.5
}
)json";

/// For networks that are trained already, and are tuned after they were changed: what
/// "scripts/fit_trained_rule data/tuned.json" fits. The bands are as wide as these networks are
/// (docs/10_trained.md).
inline constexpr const char* trained_rule = R"json(
{
  "beyond_first_order": {
    "deviation": 0.5573,
    "share": 149.3
  },
  "deviation": 0.592,
  "features": [
    {
      "form": "layers_distance",
      "metric": "kept",
      "weight": -0.1
    },
    {
      "form": "difference",
      "metric": "untuned",
      "weight": 0.08784
    }
  ],
  "lathe_rule": 2,
  "layer_band": 1.49,
  "name": "trained",
  "network_band": 0.736,
  "origin": {
    "dataset": "cifar10",
    "epochs": 12,
    "network": "resnet34-cifar",
    "others": {
      "resnet20_cifar10": "caa480aa2b255186",
      "resnet32_cifar10": "535b535101c78d80"
    },
    "structure": "fda1cdac2f912f4d",
    "training": "tuned by train.py"
  },
  "source": "31 networks made of resnet34-cifar (two trainings of it), resnet20_cifar10 and resnet32_cifar10; rank correlation 0.85 (0.70 to 0.94) when each is left out, 0.99 (0.89 to 1.00) on 14 networks that took no part",
  "tables": [
    "tuned"
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
