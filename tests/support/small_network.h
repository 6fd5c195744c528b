// A network that is searched in seconds: two convolutions between others.
#pragma once

namespace lathe::test {

/// The network as a .graph file, for two samples at a time.
constexpr const char* small_network = R"(graph small
input image: f32[2x3x32x32]
weight stem.weight: f32[32x3x3x3] = normal(0.27)
weight first.weight: f32[32x32x3x3] = normal(0.1)
weight second.weight: f32[32x32x3x3] = normal(0.1)
weight fc.weight: f32[10x32] = uniform(0.25)
weight fc.bias: f32[10] = zeros
stem = conv(image, stem.weight, pads=[1, 1, 1, 1], strides=[2, 2]): f32[2x32x16x16]
relu1 = relu(stem): f32[2x32x16x16]
first = conv(relu1, first.weight, pads=[1, 1, 1, 1]): f32[2x32x16x16]
relu2 = relu(first): f32[2x32x16x16]
second = conv(relu2, second.weight, pads=[1, 1, 1, 1]): f32[2x32x16x16]
relu3 = relu(second): f32[2x32x16x16]
pool = global_pool(relu3): f32[2x32x1x1]
flat = reshape(pool, shape=[2, 32]): f32[2x32]
scores = fully_connected(flat, fc.weight, fc.bias): f32[2x10]
output scores
)";

}  // namespace lathe::test
