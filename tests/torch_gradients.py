#!/usr/bin/python3
"""Compares gradients and Fisher Potentials with PyTorch's.

Usage: tests/torch_gradients.py LATHE OTHER_PYTHON NETWORK [--apply 'LAYERS: RECIPE'] [NETWORK ...]
Each network is exported with seeded weights. PyTorch computes the gradient of every convolution's
output, in training mode, on the same images. In double precision they agree within 1e-6. In single
precision a rectifier's input that is almost 0 may round to either side, here and in PyTorch, and
switches a gradient on or off: there the score of a network, without algebraic steps, agrees within
0.2 %, and how far either is from double precision is printed. OTHER_PYTHON is tried where this one has no torch. Exit status 77
(skipped) where neither has.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from torch_support import loaded, networks_of, np, torch

SAMPLES = 8


def torch_scores(path, images, labels, kind):
    """Returns for each convolution its gradient, and its Fisher Potential."""
    model = loaded(path).load().to(kind)
    model.train()
    kept = {}

    def keep(name):
        def hook(_module, _inputs, output):
            output.retain_grad()
            kept[name] = output
        return hook

    for name, layer in model.convolutions.items():
        layer.register_forward_hook(keep(name))
    logits = model(torch.from_numpy(images).to(kind))
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels), reduction="sum")
    loss.backward()
    gradients = {name: output.grad.numpy() for name, output in kept.items()}
    fisher = {}
    for name, output in kept.items():
        products = (output.detach() * output.grad).flatten(2).sum(2).double()
        fisher[name] = float(products.square().sum() / (2 * len(labels)))
    return gradients, fisher


def lathe_scores(lathe, arguments, folder, *more):
    """Returns the same by Lathe, and the total."""
    text = subprocess.run(
        [lathe, "score", *arguments, "--seed", "1", "--seeds", "1", "--samples", str(SAMPLES),
         "--data", f"npy:{folder}/x.npy,{folder}/y.npy", "--normalize", "none", "--json",
         "--gradients", folder / "g.npz", *more], check=True, capture_output=True, text=True).stdout
    scores = json.loads(text)["original"][0]
    layers = {layer["layer"]: layer["scores"][0] for layer in scores["layers"]}
    return np.load(folder / "g.npz"), layers, scores["totals"][0]


def norm(array):
    return float(np.linalg.norm(array))


def compare(lathe, arguments, folder):
    random = np.random.default_rng(3)
    path, size = folder / "model.py", 32
    images = random.standard_normal((SAMPLES, 3, size, size)).astype("f4")
    labels = random.integers(0, 10, SAMPLES)
    np.save(folder / "x.npy", images)
    np.save(folder / "y.npy", labels)
    subprocess.run([lathe, "export", *arguments, "--seed", "1", "--format", "torch", "-o", path],
                   check=True)
    found, layers, total = lathe_scores(lathe, arguments, folder, "--double")
    gradients, fisher = torch_scores(path, images, labels, torch.float64)
    assert set(found.files) == set(gradients), "other layers have gradients"
    worst = 0
    for name, wanted in gradients.items():
        difference = norm(found[name] - wanted) / norm(wanted)
        worst = max(worst, difference, abs(layers[name] - fisher[name]) / fisher[name])
        assert worst < 1e-6, f"{name} differs by {worst:.2g}"
    assert abs(total - sum(fisher.values())) < 1e-6 * total, "the total differs"
    single = lathe_scores(lathe, arguments, folder, "--max-error", "0")[2]
    wanted = sum(torch_scores(path, images, labels, torch.float32)[1].values())
    off = abs(single - wanted) / wanted
    assert off < 2e-3, f"the total differs by {off:.2g} in single precision"
    rounded = [abs(score - total) / total for score in (single, wanted)]
    return (f"{len(fisher)} layers differ by {worst:.1e}; in single precision the total by {off:.1e}"
            f" (from double: {rounded[0]:.1e}, PyTorch {rounded[1]:.1e})")


def main():
    print("torch", torch.__version__)
    for arguments in networks_of(sys.argv[3:], ["--apply"]):
        with tempfile.TemporaryDirectory() as folder:
            result = compare(sys.argv[1], arguments, Path(folder))
            print(f"{' '.join(arguments)}: {result}", flush=True)


main()
