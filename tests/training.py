#!/usr/bin/python3
"""Tunes a small network with the train.py of bundles, kills it, and looks at what comes of it.

Usage: tests/training.py LATHE TRAIN_PY OTHER_PYTHON
A run that was killed at random moments ends with the same weights as one that was not; trained.onnx
is as good in Lathe as train.py says; wrong data are refused before anything is trained. Skipped
where neither this Python nor OTHER_PYTHON has PyTorch.
"""
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NETWORK = Path(__file__).resolve().parent / "killed_network.graph"
SEED, KILLS = 20261117, 10


def run(*command, status=0):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    text = result.stdout + result.stderr
    assert result.returncode == status, f"{command}: status {result.returncode}\n{text}"
    return text


def python_with_torch(other):
    for python in (sys.executable, other):
        try:
            found = subprocess.run([python, "-c", "import torch, numpy"], capture_output=True)
        except OSError:
            continue
        if found.returncode == 0:
            return python
    print("skipped: no Python here has PyTorch (scripts/setup --all)")
    sys.exit(77)


def write_data(folder):
    """Writes images of ten classes, each with stripes of its own, and the tenth that tests."""
    import numpy as np
    draw = np.random.RandomState(SEED)
    labels = draw.randint(0, 10, 600)
    phase = np.arange(32)[None, :] * (labels[:, None] + 1) / 5
    images = 128 + 60 * np.sin(phase)[:, None, None, :] + 20 * draw.randn(600, 3, 32, 32)
    images = images.clip(0, 255).astype(np.uint8)
    np.save(folder / "x.npy", images)
    np.save(folder / "y.npy", labels)
    np.save(folder / "test_x.npy", images[9::10])
    np.save(folder / "test_y.npy", labels[9::10])
    np.save(folder / "small_x.npy", images[:, :, :16, :16])
    np.save(folder / "many_y.npy", labels + 5)
    np.save(folder / "few_y.npy", labels[:10])
    (folder / "cifar").mkdir()
    (folder / "cifar" / "data_batch_1.bin").write_bytes(b"x" * 3072)
    for name in ["test_batch"] + [f"data_batch_{i}" for i in range(2, 6)]:
        shutil.copy(folder / "cifar" / "data_batch_1.bin", folder / "cifar" / f"{name}.bin")


def make_bundle(lathe, train, folder, network=NETWORK):
    """Makes what train.py needs of a bundle: the network, and the original as its teacher."""
    run(lathe, "export", network, "-o", folder / "original.onnx")
    run(lathe, "export", folder / "original.onnx", "--format", "torch", "-o", folder / "original.py")
    for form, name in (("onnx", "model.onnx"), ("torch", "model.py")):
        run(lathe, "export", folder / "original.onnx", "--apply", "second: group(2)", "--format",
            form, "-o", folder / name)
    shutil.copy(train, folder / "train.py")


def killed_until_done(command, draw, length):
    """Runs a command that is killed ten times at random moments, then not again."""
    for _ in range(KILLS):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0, length))
        process.send_signal(signal.SIGKILL)
        process.wait()
    return run(*command)


def same_weights(first, second):
    import numpy as np
    with np.load(first) as a, np.load(second) as b:
        return a.files == b.files and all(np.array_equal(a[name], b[name]) for name in a.files)


def check_resumes(lathe, python, folder):
    command = [python, folder / "train.py", "--data", f"{folder}/x.npy,{folder}/y.npy", "--epochs",
               8, "--batch", 32, "--device", "cpu", "--normalize", "cifar", "--distill", 0.2,
               "--rate", 0.4, "--out"]
    begin = time.time()
    whole = run(*command, folder / "whole")
    length = time.time() - begin
    killed = killed_until_done([*command, folder / "killed"], random.Random(SEED), length)
    assert same_weights(folder / "whole/trained.npz", folder / "killed/trained.npz"), killed
    test = re.search(r"test: ([0-9.]+) %; the original has [0-9.]+ %", whole)
    assert test and test.group(0) in killed, (whole, killed)
    text = run(lathe, "evaluate", folder / "whole/trained.onnx", "--data",
               f"npy:{folder}/test_x.npy,{folder}/test_y.npy", "--normalize", "cifar")
    found = re.search(r"top-1 +([0-9.]+) %: \d+ of 60", text)
    assert found and abs(float(found.group(1)) - float(test.group(1))) < 100 / 60 + 0.01, (text, whole)
    assert float(test.group(1)) > 50, whole  # it learns
    assert (folder / "whole/log.csv").read_text().count("\n") == 9
    assert "<polyline" in (folder / "whole/curve.svg").read_text()
    print(f"killed {KILLS} times (seed {SEED}): the same weights; {test.group(0)}")
    text = run(*command, folder / "whole", "--rate", 0.1, status=1)
    assert "is of a run with another --rate" in text, text


def check_refused(python, folder):
    for data, message in ((f"{folder}/nothing", "there is no folder"),
                          (f"{folder}", "has neither CIFAR-10"),
                          (f"{folder}/cifar", "is damaged: 3072 bytes"),
                          (f"{folder}/x.npy,{folder}/none.npy", "cannot be read"),
                          (f"{folder}/x.npy", "two files are needed"),
                          (f"{folder}/x.npy,{folder}/few_y.npy", "are not those of images"),
                          (f"{folder}/small_x.npy,{folder}/y.npy", "the images are 3x16x16, but"),
                          (f"{folder}/x.npy,{folder}/many_y.npy", "labels go from")):
        text = run(python, folder / "train.py", "--data", data, "--device", "cpu", "--out",
                   folder / "refused", status=1)
        assert message in text and "Traceback" not in text, (data, text)
        assert not (folder / "refused").exists(), data


def check_outputs(lathe, python, folder):
    """Without labels the network learns to say what the original says."""
    command = [python, folder / "train.py", "--data", f"{folder}/x.npy", "--loss", "output", "--epochs",
               3, "--rate", 0.02, "--batch", 32, "--device", "cpu", "--normalize", "cifar", "--out", folder / "outputs"]
    said = run(*command)
    assert "by its outputs" in said, said
    before = float(re.search(r"before training: ([0-9.]+) %", said).group(1))
    after = float(re.search(r"test: ([0-9.]+) % of what the original's outputs vary", said).group(1))
    assert 0 <= before < after <= 100, said
    run(lathe, "evaluate", folder / "outputs/trained.onnx", "--data",
        f"npy:{folder}/test_x.npy,{folder}/test_y.npy", "--normalize", "cifar")
    print(f"without labels: {before} % of the outputs before, {after} % after")
    (folder / "original.py").rename(folder / "away.py")
    text = run(*command[:-1], folder / "refused", status=1)
    (folder / "away.py").rename(folder / "original.py")
    assert "--loss output needs the original" in text, text


def write_folded(path):
    """Writes the network with biases, as exporters leave it that fold normalisations into them."""
    text = NETWORK.read_text()
    for layer in ("stem", "first", "second"):
        text = text.replace(f"weight {layer}.weight",
                            f"weight {layer}.bias: f32[32] = uniform(0.2)\nweight {layer}.weight")
        text = text.replace(f", {layer}.weight, pads", f", {layer}.weight, {layer}.bias, pads")
    path.write_text(text)


def check_folded(lathe, python, train, folder):
    """Normalisations that are put back change nothing at first, and are folded in the end."""
    write_folded(folder / "folded.graph")
    make_bundle(lathe, train, folder, folder / "folded.graph")
    command = [python, folder / "train.py", "--data", f"{folder}/x.npy,{folder}/y.npy", "--epochs", 2,
               "--batch", 32, "--device", "cpu", "--normalize", "cifar", "--distill", 0.2]
    said = [run(*command, "--out", folder / "put_back"),
            run(*command, "--no-norms", "--out", folder / "left_away")]
    before = [re.search(r"before training: .*", text).group(0) for text in said]
    assert before[0] == before[1], said
    assert not same_weights(folder / "put_back/trained.npz", folder / "left_away/trained.npz"), said
    text = run(lathe, "evaluate", folder / "put_back/trained.onnx", "--data",
               f"npy:{folder}/test_x.npy,{folder}/test_y.npy", "--normalize", "cifar")
    found = float(re.search(r"top-1 +([0-9.]+) %", text).group(1))
    test = float(re.search(r"test: ([0-9.]+) %", said[0]).group(1))
    assert abs(found - test) < 100 / 60 + 0.01, (text, said[0])
    print(f"normalisations put back: {before[0]}; folded again: {test} % in both")


def main():
    lathe, train = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    python = python_with_torch(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        make_bundle(lathe, train, folder)
        check_refused(python, folder)
        check_resumes(lathe, python, folder)
        check_outputs(lathe, python, folder)
        check_folded(lathe, python, train, folder)


main()
