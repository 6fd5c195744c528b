"""Runs the examples in the docstrings of the package, in a folder with a small model.onnx, a search
of it, and tables of trained networks and of cells."""
import doctest
import importlib
import os
import pathlib
import pkgutil
import shutil
import sys
import tempfile

import lathe

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK = ROOT / "tests/killed_network.graph"


def main():
    failed = tried = 0
    for module in pkgutil.iter_modules(lathe.__path__):
        if module.name == "_train":
            continue
        found = doctest.testmod(importlib.import_module(f"lathe.{module.name}"),
                                optionflags=doctest.ELLIPSIS)
        failed, tried = failed + found.failed, tried + found.attempted
    found = doctest.testmod(lathe)
    failed, tried = failed + found.failed, tried + found.attempted
    print(f"{tried} examples, {failed} failed")
    assert tried > 20
    sys.exit(failed > 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LATHE_TUNED"] = f"{folder}/tuned"  # what an example finds is for no other test
        os.chdir(folder)
        lathe.load(NETWORK).export("model.onnx")
        lathe.optimize(lathe.load("model.onnx"), work_dir="search", families=["expanded"],
                       variants=3, exact=1, samples=2, seeds=1, rule="paper", tune=0, blocks=False,
                       progress=False)
        pathlib.Path("cells.csv").write_text(
            "ArchitectureString,CIFAR10TestAccuracy200Epochs\n6111,93.5\n7000,91.0\n15000,88.2\n")
        shutil.copy(ROOT / "data/transformed36.json", "trained.json")
        main()
