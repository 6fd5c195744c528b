#!/usr/bin/python3
"""Compares all metrics with their definitions in PyTorch, on the same networks and images.

Usage: tests/metrics.py LATHE OTHER_PYTHON NETWORK [NETWORK ...]
Each network is exported as a PyTorch module with seeded weights. Zen-score draws weights and images
itself, so that only its size is compared. OTHER_PYTHON is tried where this one has no torch. Exit
status 77 (skipped) where neither has.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import torch_support
from torch_support import np, torch
from torch import nn
from torch.nn import functional

SAMPLES = 8
SEED = "2"  # an even one: of two minibatches it gets the first

# Both compute in double precision: so zen alone, which draws what it computes with, may differ.
TOLERANCE = {"params": 0, "macs": 0, "zen": 0.1}
USUAL_TOLERANCE = 1e-7


def loaded(path):
    """Imports an exported file; returns the network in double precision, ready to learn."""
    return torch_support.loaded(path).load().double().train()


class Patched:
    """Replaces a function of torch.nn.functional for a while, by one that notes what it is given."""

    def __init__(self, name):
        self.name, self.seen, self.original = name, [], getattr(functional, name)

    def __enter__(self):
        def noting(x, *arguments, **named):
            self.seen.append(x)
            return self.original(x, *arguments, **named)
        setattr(functional, self.name, noting)
        return self.seen

    def __exit__(self, *_):
        setattr(functional, self.name, self.original)


def channel_weights(model):
    return [weight for weight in model.parameters() if weight.dim() > 1]


def weighted(weights, others, combine=torch.Tensor.abs):
    """Returns the sum of the products of weights and other numbers."""
    return sum(float(combine(w.detach() * g).sum()) for w, g in zip(weights, others))


def gradients(model, x, labels, **how):
    loss = functional.cross_entropy(model(x), labels)
    return torch.autograd.grad(loss, channel_weights(model), **how)


def fisher(model, x, labels):
    outputs = []
    hooks = [layer.register_forward_hook(lambda _, __, y: outputs.append(y))
             for layer in model.convolutions.values()]
    losses = functional.cross_entropy(model(x), labels, reduction="sum")
    found = torch.autograd.grad(losses, outputs)
    for hook in hooks:
        hook.remove()
    total = sum(float((a.detach() * g).sum((2, 3)).square().sum())
                for a, g in zip(outputs, found))
    return total / (2 * len(labels))


def snip(model, x, labels):
    return weighted(channel_weights(model), gradients(model, x, labels))


def grad_norm(model, x, labels):
    return sum(float(g.norm()) for g in gradients(model, x, labels))


def grasp(model, x, labels):
    g = gradients(model, x, labels, create_graph=True)
    product = sum((a * a.detach()).sum() for a in g)
    second = torch.autograd.grad(product, channel_weights(model))
    return weighted(channel_weights(model), second, torch.neg)


def synflow(model, x, _):
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    forwards = [layer.forward for layer in norms]
    kept = {key: value.clone() for key, value in model.state_dict().items()}
    with torch.no_grad():
        for weight in model.parameters():
            weight.abs_()
    for layer in norms:
        layer.forward = lambda y: y
    outputs = model(torch.ones_like(x[:1])).sum()
    found = torch.autograd.grad(outputs, channel_weights(model))
    total = weighted(channel_weights(model), found)
    for layer, forward in zip(norms, forwards):
        layer.forward = forward
    model.load_state_dict(kept)
    return math.log(total)


def jacob_cov(model, x, _):
    x = x.clone().requires_grad_()
    g = torch.autograd.grad(model(x).sum(), x)[0].reshape(len(x), -1).numpy()
    v = np.linalg.eigvalsh(np.corrcoef(g)) + 1e-5
    return -float(np.sum(np.log(v) + 1 / v))


def naswot(model, x, _):
    with Patched("relu") as inputs, torch.no_grad():
        model(x)
    kernel = 0
    for value in inputs:
        code = (value.reshape(len(x), -1) > 0).double()
        kernel = kernel + code @ code.T + (1 - code) @ (1 - code).T
    return float(torch.linalg.slogdet(kernel)[1])


def diversity(model, x, _):
    outputs = []
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    hooks = [layer.register_forward_hook(lambda _, __, y: outputs.append(y.detach()))
             for layer in norms or model.convolutions.values()]
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    total = 0
    for value in outputs:
        covariance = torch.cov(value.transpose(0, 1).flatten(1), correction=0)
        spectrum = torch.linalg.eigvalsh(covariance)
        total += math.log(float(spectrum.sum() ** 2 / spectrum.square().sum()))
    return total / len(outputs)


def zico(model, x, labels, second_x, second_labels):
    total = 0
    for a, b in zip(gradients(model, x, labels), gradients(model, second_x, second_labels)):
        both = torch.stack((a, b))
        deviation = both.std(0, unbiased=False)
        steady = both.abs().mean(0) / deviation
        total += math.log(float(steady[deviation > 0].sum()))
    return total


def zen(model, x, _):
    kept = {key: value.clone() for key, value in model.state_dict().items()}
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    scores, variances = [], []
    hooks = [layer.register_forward_hook(
        lambda _, inputs, __: variances.append(inputs[0].var((0, 2, 3), unbiased=False).mean()))
        for layer in norms]
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_() if weight.dim() == 1 else weight.normal_()
        for layer in norms:
            layer.weight.fill_(1)
        for _ in range(4):
            variances.clear()
            here = torch.randn(16, *x.shape[1:], dtype=x.dtype)
            there = here + 0.01 * torch.randn_like(here)
            with Patched("relu") as inputs:  # the last is that before the pooling
                model(here)
                features = inputs[-1].relu()
                logs = sum(float(v.log()) / 2 for v in variances)
                model(there)
            change = (features - inputs[-1].relu()).flatten(1).norm(dim=1)
            scores.append(float(change.mean().log()) + logs)
    for hook in hooks:
        hook.remove()
    model.load_state_dict(kept)
    return sum(scores) / len(scores)


def params(model, _, __):
    return sum(weight.numel() for weight in model.parameters())


def macs(model, x, _):
    counts = []

    def count(layer, _, y):
        counts.append(y[0].numel() * layer.weight[0].numel())
    hooks = [layer.register_forward_hook(count) for layer in model.modules()
             if isinstance(layer, (nn.Conv2d, nn.Linear))]
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    return sum(counts)


METRICS = [diversity, fisher, grad_norm, grasp, jacob_cov, macs, naswot, params, snip, synflow, zen,
           zico]


def scores_of(lathe, network, folder, samples):
    """Returns what Lathe says of a network on the images in a folder, by metric."""
    text = subprocess.run(
        [lathe, "score", network, "--seed", SEED, "--seeds", "1", "--metric", "all", "--samples",
         str(samples), "--data", f"npy:{folder}/x.npy,{folder}/y.npy", "--normalize", "none",
         "--double", "--json"], check=True, capture_output=True, text=True).stdout
    return {scores["metric"]: scores["totals"][0] for scores in json.loads(text)["original"]}


def compare(lathe, network, folder):
    """Returns how much each metric differs, where that is too much."""
    random = np.random.default_rng(5)
    x = random.standard_normal((2 * SAMPLES, 3, 32, 32)).astype("f4")
    y = random.integers(0, 10, 2 * SAMPLES)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    subprocess.run([lathe, "export", network, "--seed", SEED, "--format", "torch", "-o",
                    folder / "model.py"], check=True)
    model = loaded(folder / "model.py")
    ours = scores_of(lathe, network, folder, SAMPLES)
    x, y = torch.from_numpy(x).double(), torch.from_numpy(y)
    first, second = (x[:SAMPLES], y[:SAMPLES]), (x[SAMPLES:], y[SAMPLES:])
    wrong = []
    for metric in METRICS:
        name = metric.__name__
        theirs = metric(model, *first, *second) if name == "zico" else metric(model, *first)
        error = abs(ours[name] - theirs) / abs(theirs)
        print(f"  {name:10} {ours[name]:14.9g} PyTorch {theirs:14.9g} differs by {error:.1e}",
              flush=True)
        if not error <= TOLERANCE.get(name, USUAL_TOLERANCE):
            wrong.append(f"{network}: {name} differs by {error:.2g}")
    return wrong


def main():
    print("torch", torch.__version__)
    torch.manual_seed(1)
    wrong = []
    for network in sys.argv[3:]:
        print(network)
        with tempfile.TemporaryDirectory() as folder:
            wrong += compare(sys.argv[1], network, Path(folder))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
