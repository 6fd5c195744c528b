#!/usr/bin/env python3
"""Times PyTorch with cuDNN on a GPU, as fast as it gets: a CUDA graph, batch normalisation folded,
cuDNN's fastest algorithms, values in either layout, and optionally torch.compile.

    python3 gpu_peers.py --precision tf32 resnet34-cifar resnet34-cifar/g8 resnet50

A network is a ResNet for ImageNet or CIFAR; /g8: its 3x3 convolutions in 8 groups where their
channels divide. Weights are random. It needs PyTorch alone: it runs where the GPU is.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
BOTTLENECKS = {50, 101}


def conv(inputs, outputs, kernel, stride, groups=1):
    if inputs % groups or outputs % groups:
        groups = 1
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups)


class Block(nn.Module):
    def __init__(self, inputs, width, stride, is_bottleneck, groups):
        super().__init__()
        outputs = 4 * width if is_bottleneck else width
        if is_bottleneck:
            layers = [conv(inputs, width, 1, 1), conv(width, width, 3, stride, groups),
                      conv(width, outputs, 1, 1)]
        else:
            layers = [conv(inputs, width, 3, stride, groups), conv(width, width, 3, 1, groups)]
        self.layers = nn.ModuleList(layers)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = conv(inputs, outputs, 1, stride)

    def forward(self, x):
        y = x
        for i, layer in enumerate(self.layers):
            y = layer(y)
            if i + 1 < len(self.layers):
                y = F.relu(y, inplace=True)
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)), inplace=True)


class ResNet(nn.Module):
    """A ResNet whose batch normalisations are folded into its convolutions."""

    def __init__(self, depth, is_cifar, groups):
        super().__init__()
        self.is_cifar = is_cifar
        self.stem = conv(3, 64, 3, 1) if is_cifar else conv(3, 64, 7, 2)
        blocks, inputs = [], 64
        for stage, count in enumerate(BLOCKS[depth]):
            width = 64 << stage
            for i in range(count):
                stride = 2 if i == 0 and stage > 0 else 1
                blocks.append(Block(inputs, width, stride, depth in BOTTLENECKS, groups))
                inputs = 4 * width if depth in BOTTLENECKS else width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, 10 if is_cifar else 1000)

    def forward(self, x):
        x = F.relu(self.stem(x), inplace=True)
        if not self.is_cifar:
            x = F.max_pool2d(x, 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


def network_named(name):
    base, _, groups = name.partition("/g")
    is_cifar = base.endswith("-cifar")
    depth = int(base.removesuffix("-cifar").removeprefix("resnet"))
    return ResNet(depth, is_cifar, int(groups or 1)), 32 if is_cifar else 224


def graph_of(module, x):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            module(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        module(x)
    return graph


def milliseconds(run, seconds):
    for _ in range(20):
        run()
    times, end = [], time.time() + seconds
    while time.time() < end or len(times) < 5:
        begin, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(20):
            run()
        done.record()
        done.synchronize()
        times.append(begin.elapsed_time(done) / 20)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--precision", choices=["fp32", "tf32", "fp16"], default="tf32")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--compile", action="store_true", help="also torch.compile, which takes minutes")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    is_tf32 = options.precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_tf32
    kind = torch.float16 if options.precision == "fp16" else torch.float32
    for name in options.networks:
        found = {}
        for layout in (torch.contiguous_format, torch.channels_last):
            module, size = network_named(name)
            module = module.eval().cuda().to(kind).to(memory_format=layout)
            x = torch.randn(options.batch, 3, size, size, device="cuda", dtype=kind)
            x = x.to(memory_format=layout)
            what = "NCHW" if layout == torch.contiguous_format else "NHWC"
            with torch.inference_mode():
                found[what] = milliseconds(graph_of(module, x).replay, options.seconds)
                if options.compile and layout == torch.channels_last:
                    begin = time.time()
                    compiled = torch.compile(module, mode="max-autotune")
                    for _ in range(5):
                        compiled(x)
                    took = time.time() - begin
                    found["compiled"] = milliseconds(lambda: compiled(x), options.seconds)
                    print(f"{name} torch.compile took {took:.0f} s")
        text = "  ".join(f"{what} {ms:.4f}" for what, ms in found.items())
        print(f"{name} batch {options.batch} {options.precision} milliseconds: {text}", flush=True)


if __name__ == "__main__":
    main()
