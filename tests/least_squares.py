#!/usr/bin/python3
"""Compares the weights that "lathe fit" finds with a regression in NumPy.

Usage: tests/least_squares.py LATHE
The network has two convolutions. The first gets 2 groups, the second reads what is left of it: both
get new weights, each a regression of what the original computed on what the layer reads now. There
are so few images that all positions count.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NETWORK = Path(__file__).resolve().parent / "killed_network.graph"
SEED, IMAGES, RIDGE = 20261117, 8, 0.05


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def weights_of(lathe, network, folder, *options):
    """Returns all weights of a network, in double precision."""
    run(lathe, "export", network, *options, "--format", "torch", "-o", folder / "module.py")
    with np.load(folder / "module.npz") as arrays:
        return {name: arrays[name].astype(np.float64) for name in arrays.files}


def patches(x, stride=1):
    """Returns what a 3x3 window sees: positions x (channels, rows and columns of the window)."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = padded.shape[2] - 2, padded.shape[3] - 2
    parts = [padded[:, :, i:i + rows:stride, j:j + columns:stride] for i in range(3) for j in range(3)]
    stacked = np.stack(parts, axis=2)  # samples, channels, window, rows, columns
    return stacked.transpose(0, 3, 4, 1, 2).reshape(-1, x.shape[1] * 9)


def convolved(x, weight, stride=1):
    size = x.shape[2] // stride
    groups = x.shape[1] // weight.shape[1]
    parts = [patches(part, stride) @ w.reshape(w.shape[0], -1).T
             for part, w in zip(np.split(x, groups, 1), np.split(weight, groups))]
    return np.concatenate(parts, 1).reshape(x.shape[0], size, size, -1).transpose(0, 3, 1, 2)


def fitted(x, weight, target):
    """Returns the weights, drawn a little to what they were, that explain the target best."""
    result, groups = [], x.shape[1] // weight.shape[1]
    wanted = np.split(target.transpose(0, 2, 3, 1).reshape(-1, target.shape[1]), groups, 1)
    for part, w, y in zip(np.split(x, groups, 1), np.split(weight, groups), wanted):
        a = patches(part)
        squares = a.T @ a
        start = w.reshape(w.shape[0], -1).T
        ridge = RIDGE * np.trace(squares) / len(squares) * np.eye(len(squares))
        found = start + np.linalg.solve(squares + ridge, a.T @ y - squares @ start)
        result.append(found.T.reshape(w.shape))
    return np.concatenate(result)


def main():
    lathe, folder = sys.argv[1], Path(tempfile.mkdtemp())
    draw = np.random.RandomState(SEED)
    images = draw.randn(IMAGES * 2, 3, 32, 32).astype(np.float32)
    np.save(folder / "x.npy", images)
    np.save(folder / "y.npy", draw.randint(0, 10, len(images)))
    run(lathe, "export", NETWORK, "-o", folder / "original.onnx")
    said = json.loads(run(
        lathe, "fit", folder / "original.onnx", "--apply", "first: group(2)", "--data",
        f"npy:{folder}/x.npy,{folder}/y.npy", "--samples", IMAGES, "--ridge", RIDGE, "--validate", 0,
        "--json", "-o", folder / "fitted.onnx"))
    assert [layer["layer"] for layer in said["layers"]] == ["first", "second", "scores"], said

    original = weights_of(lathe, folder / "original.onnx", folder)
    sliced = weights_of(lathe, folder / "original.onnx", folder, "--apply", "first: group(2)")
    found = weights_of(lathe, folder / "fitted.onnx", folder)
    held = np.random.MT19937()
    held._legacy_seeding(0)
    order, raw = list(range(len(images))), held.random_raw(len(images))
    for i in range(len(images) // 10):  # the samples that validate are left out
        j = i + int(raw[i]) % (len(images) - i)
        order[i], order[j] = order[j], order[i]
    left = sorted(set(range(len(images))) - set(order[:len(images) // 10]))
    x = images[left[:IMAGES]].astype(np.float64)
    stem = np.maximum(convolved(x, original["stem.weight"], 2), 0)
    first = convolved(stem, original["first.weight"])
    second = convolved(np.maximum(first, 0), original["second.weight"])
    wanted = fitted(stem, sliced["first.weight"], first)
    now = np.maximum(convolved(stem, wanted), 0)
    for name, expected in (("first.weight", wanted),
                           ("second.weight", fitted(now, original["second.weight"], second))):
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-4, f"{name} differs by {error:.2g} of the largest"
        moved = np.abs(found[name] - sliced[name]).max() / np.abs(expected).max()
        assert moved > 0.01, f"{name} is as it was"
        print(f"{name}: differs by {error:.1g}; the fit moved it by {moved:.2g} (seed {SEED})")


if __name__ == "__main__":
    main()
