#!/usr/bin/python3
"""Compares exported networks with ONNX's checker and with ONNX Runtime.

Usage: tests/peers.py LATHE OTHER_PYTHON NETWORK...
Each network is exported with seeded weights, checked by ONNX's own checker, and run by Lathe and by
ONNX Runtime on the same random input: outputs agree within 1e-4 of the largest. So is one that was
quantised. OTHER_PYTHON is tried where this one has no ONNX Runtime. Exit status 77 (skipped) where ONNX is missing; where only
ONNX Runtime is, no outputs are compared, and it is said.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def has_runtime(python):
    command = [python, "-c", "import numpy, onnx, onnxruntime"]
    return os.access(python, os.X_OK) and subprocess.run(command, capture_output=True).returncode == 0


try:
    import onnxruntime
except ImportError:
    if has_runtime(sys.argv[2]):
        os.execv(sys.argv[2], [sys.argv[2], *sys.argv])
    onnxruntime = None

try:
    import numpy as np
    import onnx
except ImportError as error:
    skip(f"{error.name} is not installed (Debian: python3-onnx)")


def random_inputs(model, seed):
    """Draws an input of the right shape and type for each of the model's."""
    random = np.random.default_rng(seed)
    inputs = {}
    given = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in given:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value for d in tensor.shape.dim]
        if tensor.elem_type == onnx.TensorProto.INT64:
            inputs[value.name] = random.integers(0, 2, shape)
        else:
            inputs[value.name] = random.standard_normal(shape).astype(np.float32)
    return inputs


def run_lathe(lathe, path, inputs, names, folder):
    command = [lathe, "run", str(path)]
    for name, array in inputs.items():
        np.save(folder / "in.npy", array)
        file = folder / f"{len(command)}.npy"
        (folder / "in.npy").rename(file)
        command += ["--input", f"{name}={file}"]
    files = [folder / f"out{i}.npy" for i in range(len(names))]
    for name, file in zip(names, files):
        command += ["--output", f"{name}={file}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(file) for file in files]


def run_peer(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def compare(lathe, network, folder):
    path = folder / "network.onnx"
    subprocess.run([lathe, "export", network, "-o", str(path), "--seed", "1"], check=True)
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(str(path))
    if onnxruntime is None:
        return "accepted by the checker"
    inputs = random_inputs(model, 7)
    names = [value.name for value in model.graph.output]
    worst = 0
    for got, wanted in zip(run_lathe(lathe, path, inputs, names, folder), run_peer(path, inputs)):
        assert got.shape == wanted.shape, f"{got.shape} is not {wanted.shape}"
        worst = max(worst, float(np.abs(got - wanted).max() / np.abs(wanted).max()))
    assert worst < 1e-4, f"outputs differ by {worst:.2g} of the largest"
    return f"accepted by the checker; outputs differ by {worst:.1e} of the largest"


def compare_quantised(lathe, network, folder):
    """Quantises a network with seeded weights. Where a number is as near to one integer as to
    another, both may choose differently, and later layers make that more: a few hundredths."""
    whole, path = folder / "network.onnx", folder / "int8.onnx"
    subprocess.run([lathe, "export", network, "-o", str(whole), "--seed", "1"], check=True)
    subprocess.run([lathe, "quantize", str(whole), "--data", "synthetic:1", "--images", "32",
                    "--limit", "32", "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(str(path))
    kinds = {node.op_type for node in model.graph.node}
    assert {"QuantizeLinear", "DequantizeLinear"} <= kinds, f"there are only {kinds}"
    if onnxruntime is None:
        return "accepted by the checker"
    # Integers are made for images, whose numbers are from 0 to 1.
    inputs = {name: np.clip(np.abs(array), 0, 1) for name, array in random_inputs(model, 7).items()}
    names = [value.name for value in model.graph.output]
    got, wanted = run_lathe(lathe, path, inputs, names, folder)[0], run_peer(path, inputs)[0]
    exact = run_peer(whole, inputs)[0]
    apart = float(np.abs(got - wanted).max() / np.abs(wanted).max())
    off = float(np.abs(exact - wanted).max() / np.abs(wanted).max())
    assert apart < 0.03, f"outputs differ by {apart:.2g} of the largest"
    assert off < 0.2, f"outputs differ by {off:.2g} of the largest from those of f32"
    return f"outputs differ by {apart:.1e} of the largest; by {off:.1e} from those of f32"


def main():
    lathe, networks = sys.argv[1], sys.argv[3:]
    for network in networks:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{network}: {compare(lathe, network, Path(folder))}", flush=True)
    for network in ["resnet18-cifar"]:
        with tempfile.TemporaryDirectory() as folder:
            found = compare_quantised(lathe, network, Path(folder))
            print(f"{network}, 8-bit integers: {found}", flush=True)
    if onnxruntime is None:
        print("left out: outputs were not compared, as onnxruntime is not installed (scripts/setup --all)")


main()
