#!/usr/bin/env python3
"""Compares networks exported as PyTorch modules with what Lathe computes.

Usage: tests/torch_module.py LATHE OTHER_PYTHON NETWORK [--apply 'LAYERS: RECIPE'] [NETWORK ...]
Each network is exported with seeded weights, and run by Lathe and by PyTorch on the same random
input: outputs agree within 1e-4 of the largest. Then a copy is trained for a step. OTHER_PYTHON is
tried where this one has no torch. Exit status 77 (skipped) where neither has.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
TOLERANCE = 1e-4

try:
    import numpy as np
    import torch
except ImportError as error:
    OTHER = sys.argv[2]
    if os.access(OTHER, os.X_OK) and not os.environ.get("LATHE_TORCH_TRIED"):
        os.environ["LATHE_TORCH_TRIED"] = "1"
        os.execv(OTHER, [OTHER, *sys.argv])
    print(f"skipped: {error.name} is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)


def loaded(path):
    """Imports an exported file."""
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs_of(lathe, arguments, inputs, folder):
    """Runs a network by Lathe; returns its outputs."""
    command = [lathe, "run", *arguments, "--seed", "1", "--no-tuned"]
    for name, array in inputs.items():
        np.save(folder / "input.npy", array)
        command += ["--input", f"{name}={folder}/input.npy"]
    text = subprocess.run([lathe, "export", *arguments, "--format", "text"], check=True,
                          capture_output=True, text=True).stdout
    words = [line.split() for line in text.splitlines()]
    names = [line[1] for line in words if line[:1] == ["output"] and len(line) == 2]
    for i, name in enumerate(names):
        command += ["--output", f"{name}={folder}/output{i}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"output{i}.npy") for i in range(len(names))]


def input_of(lathe, arguments):
    """Draws an input of the right shape."""
    text = subprocess.run([lathe, "export", *arguments, "--format", "text"], check=True,
                          capture_output=True, text=True).stdout
    line = next(line for line in text.splitlines() if line.startswith("input "))
    name, shape = line.removeprefix("input ").split(": f32")
    random = np.random.default_rng(7)
    return {name: random.standard_normal([int(n) for n in shape[1:-1].split("x")]).astype("f4")}


def check_names(model):
    """Convolutions are there by their names, and hooks on them are called."""
    modules = dict(model.named_modules())
    called = []
    hooks = [layer.register_forward_hook(lambda *_, name=name: called.append(name))
             for name, layer in model.convolutions.items()]
    assert all(layer in modules.values() for layer in model.convolutions.values())
    return called, hooks


def check_training(model, x):
    """A step of training changes all parameters, and the statistics of the normalisations."""
    before = {key: value.clone() for key, value in model.state_dict().items()}
    model.train()
    # Of two samples: a normalisation of one value for each channel has no variance.
    y = model(torch.cat((x, 0.5 * x + 0.1)))
    assert y.shape[0] == 2 * x.shape[0], f"{y.shape[0]} samples came out of {2 * x.shape[0]}"
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    (y / y.detach().abs().max().clamp(min=1)).square().sum().backward()
    optimiser.step()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, f"{name} has no gradient"
    kept = [key for key, value in model.state_dict().items()
            if "running_var" in key and torch.equal(value, before[key])]
    assert not kept, f"training leaves {kept} as they were"


def compare(lathe, arguments, folder):
    path = folder / "model.py"
    subprocess.run([lathe, "export", *arguments, "--seed", "1", "--format", "torch", "-o", path],
                   check=True)
    inputs = input_of(lathe, arguments)
    wanted = outputs_of(lathe, arguments, inputs, folder)
    model = loaded(path).load()
    called, hooks = check_names(model)
    x = torch.from_numpy(next(iter(inputs.values())))
    with torch.no_grad():
        got = model(x)
    got = [y.numpy() for y in (got if isinstance(got, tuple) else (got,))]
    assert len(called) == len(hooks), "a hook of a convolution was not called"
    for hook in hooks:
        hook.remove()
    assert len(got) == len(wanted), f"{len(got)} outputs are not {len(wanted)}"
    worst = 0
    for ours, theirs in zip(wanted, got):
        assert ours.shape == theirs.shape, f"{theirs.shape} is not {ours.shape}"
        assert np.isfinite(ours).all() and np.isfinite(theirs).all(), "outputs are no numbers"
        worst = max(worst, float(np.abs(ours - theirs).max() / max(np.abs(ours).max(), 1e-6)))
    assert worst < TOLERANCE, f"outputs differ by {worst:.2g} of the largest"
    if arguments[0].endswith(".graph"):  # of operators, whose outputs differ in size
        assert all(np.allclose(*pair, rtol=TOLERANCE, atol=TOLERANCE) for pair in zip(wanted, got))
    else:
        check_training(model, x)
    return f"{len(model.convolutions)} convolutions; outputs differ by {worst:.1e} of the largest"


def check_command(lathe, folder):
    """The exported file is a program."""
    path = folder / "small.py"
    network = ["nasbench201:0"]
    subprocess.run([lathe, "export", *network, "--format", "torch", "-o", path], check=True)
    np.save(folder / "x.npy", next(iter(input_of(lathe, network).values())))
    subprocess.run([sys.executable, path, folder / "x.npy", "-o", folder / "y.npy"], check=True,
                   stdout=subprocess.DEVNULL)
    assert np.load(folder / "y.npy").shape == (1, 10)


def main():
    lathe, networks = sys.argv[1], []
    for argument in sys.argv[3:]:
        if argument == "--apply" or (networks and networks[-1][-1] == "--apply"):
            networks[-1].append(argument)
        else:
            networks.append([argument])
    print("torch", torch.__version__)
    torch.manual_seed(1)
    for arguments in networks:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{' '.join(arguments)}: {compare(lathe, arguments, Path(folder))}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        check_command(lathe, Path(folder))


main()
