"""Runs the examples in the docstrings of the package, in a folder with a small model.onnx."""
import doctest
import importlib
import os
import pathlib
import pkgutil
import sys
import tempfile

import lathe

NETWORK = pathlib.Path(__file__).resolve().parents[1] / "killed_network.graph"


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
        main()
