// Results of searches that nobody ran, for tests of what is made of them.
#pragma once

#include "results/search_result.h"

namespace lathe::test {

/// Returns a result that has something of everything.
inline SearchResult sample_result() {
  SearchResult result{.lathe = "0.1.0",
                      .network = "resnet20-cifar",
                      .command = "lathe optimize resnet20-cifar --work-dir runs/r20",
                      .strategy = "assign",
                      .identity = {{"machine", "aarch64 Neoverse"}, {"data", "synthetic:1 none"}},
                      .found = true,
                      .seconds = 71.25};
  result.rule = {"two-sided", 0.5, 0.7589, 1.147, false, "fisher"};
  result.original = {4.5, 41212416, 272474};
  result.winner = {2.5, 4.6, 0.015, false, 21212416, 132474, {}, std::nullopt};
  result.winner.recipe = parse_network_recipe("layer1.0.conv1: group(2)\n");
  result.winner.verdict = {true,
                           0.84,
                           "within the bands",
                           0.93,
                           std::vector{0.81, 1.06},
                           {{"layer1.0.conv1", -0.05}},
                           -0.21,
                           0.97,
                           std::vector{-2.11, 1.69}};
  result.log_networks = 34.5;
  result.blocks = ResultBlocks{24,
                               44.2,
                               {{"sampled", std::nullopt, 0, false, 0, 0, "", 1000, 1000},
                                {"assigned", 3.5, 4.55, true, 25212416, 152474,
                                 "layer1.0.conv1: group(2, expand)\n", 6, 2}}};
  result.peers = {{"ONNX Runtime 1.20", 5.25}};
  result.tried = 40, result.refused = 34, result.failed = 1;
  result.reasons = {{"fisher moved too far", 34}, {"it ran too long", 1}};
  result.layers = {{"layer1.0.conv1", "conv 3x3 16->16 32x32", "group(2)", "grouped x2", 0.5, 0.25,
                    2359296, 1179648, 2304, 1152, -0.02, -0.05},
                   {"layer1.0.conv2", "conv 3x3 16->16 32x32", "", "as it was", 0.5, 0.5, 2359296,
                    2359296, 2304, 2304, 0.0, std::nullopt}};
  result.rest_ms = 0.4;
  result.kinds = {{"conv 3x3 16->16 32x32",
                   {"layer1.0.conv1", "layer1.0.conv2"},
                   {{"group(2)", "grouped x2", 1179648, 1152, 0.5, 0.25, -0.02, ""},
                    {"group(16)", "depthwise", 147456, 144, std::nullopt, std::nullopt,
                     std::nullopt, "it ran too long"}}}};
  result.pareto = {{"layer1.0.conv1: group(2)\n", 2.5, 4.6, 0.93, -0.21, 21212416, 132474},
                   {"layer1.0.conv2: group(4)\n", 3.0, 4.6, 0.98, 0.12, 25212416, 152474}};
  return result;
}

/// Returns the result of a search that found nothing, and knows of no other library.
inline SearchResult result_of_nothing() {
  SearchResult result = sample_result();
  result.found = false;
  result.winner = {4.5, 4.5, 0, false, 41212416, 272474, {}, std::nullopt};
  result.blocks.reset();
  result.peers.clear();
  result.pareto.clear();
  for (ResultLayer& layer : result.layers) {
    layer.recipe.clear();
    layer.meaning = "as it was";
    layer.after_ms = layer.before_ms;
    layer.macs = layer.macs_before;
    layer.weights = layer.weights_before;
    layer.first_order.reset();
    layer.exact.reset();
  }
  return result;
}

}  // namespace lathe::test
