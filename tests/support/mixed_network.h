// A small network with something of everything that kernels must get right: padding that is stored
// and padding that is not, Winograd's algorithm, groups, strides, pools, a softmax.
#pragma once

namespace lathe::test {

/// The network as a .graph file.
constexpr const char* mixed_network = R"(graph small
input x: f32[1x3x24x24]
weight w1: f32[32x3x3x3] = normal(0.1)
weight b1: f32[32] = normal(0.1)
weight w2: f32[32x32x3x3] = normal(0.1)
weight w3: f32[32x1x3x3] = normal(0.1)
weight w4: f32[64x32x1x1] = normal(0.1)
weight w5: f32[10x64] = normal(0.1)
a = conv(x, w1, b1, pads=[1, 1, 1, 1]): f32[1x32x24x24]
r = relu(a): f32[1x32x24x24]
b = conv(r, w2, pads=[1, 1, 1, 1]): f32[1x32x24x24]
s = add(b, r): f32[1x32x24x24]
c = conv(s, w3, groups=32, pads=[1, 1, 1, 1], strides=[2, 2]): f32[1x32x12x12]
d = conv(c, w4): f32[1x64x12x12]
m = max_pool(d, kernel=[2, 2], strides=[2, 2]): f32[1x64x6x6]
g = global_pool(m): f32[1x64x1x1]
f = reshape(g, shape=[1, 64]): f32[1x64]
y = fully_connected(f, w5): f32[1x10]
z = softmax(y, axis=1): f32[1x10]
output z
)";

}  // namespace lathe::test
