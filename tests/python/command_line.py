"""Python finds what the command line finds: the same tables and trials, the same bundle."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lathe

NETWORK = "resnet20-cifar"
OPTIONS = {"samples": 8, "seeds": 1, "variants": 4, "exact": 2, "tune": 0}


def main():
    program = pathlib.Path(sys.executable).with_name("lathe")
    with tempfile.TemporaryDirectory() as name:
        told, called = pathlib.Path(name) / "told", pathlib.Path(name) / "called"
        words = [f"--{option}={value}" for option, value in OPTIONS.items()]
        subprocess.run([program, "optimize", NETWORK, "--work-dir", told, "--no-blocks", *words],
                       check=True, capture_output=True)
        # The journal has all that was measured; nothing else is handed on.
        shutil.copytree(told, called)
        shutil.rmtree(called / "bundle")
        (called / "result.json").unlink()
        lathe.optimize(lathe.model(NETWORK), work_dir=called, blocks=False, progress=False,
                       **OPTIONS)
        for file in ("winner.recipe", "model.onnx", "model.py", "model.npz"):
            same = (told / "bundle" / file).read_bytes() == (called / "bundle" / file).read_bytes()
            assert same, f"{file} differs"


if __name__ == "__main__":
    main()
