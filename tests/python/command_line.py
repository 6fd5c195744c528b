"""Python finds what the command line finds: the same tables and trials, the same bundle."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lathe

NETWORK = pathlib.Path(__file__).resolve().parents[1] / "killed_network.graph"
OPTIONS = {"samples": 8, "seeds": 1, "variants": 4, "exact": 2, "tune": 0,
           "tolerance": 20}
SEARCHED = 0, 1  # 1: nothing faster was found; then both hand over the original


def main():
    program = pathlib.Path(sys.executable).with_name("lathe")
    with tempfile.TemporaryDirectory() as name:
        told, called = pathlib.Path(name) / "told", pathlib.Path(name) / "called"
        words = [f"--{option}={value}" for option, value in OPTIONS.items()]
        done = subprocess.run([program, "optimize", NETWORK, "--work-dir", told, "--no-blocks",
                               *words], capture_output=True, text=True)
        assert done.returncode in SEARCHED, done.stderr
        # The journal has all that was measured; nothing else is handed on.
        shutil.copytree(told, called)
        shutil.rmtree(called / "bundle")
        (called / "result.json").unlink()
        lathe.optimize(lathe.load(NETWORK), work_dir=called, blocks=False, progress=False,
                       **OPTIONS)
        for file in ("winner.recipe", "model.onnx", "model.py", "model.npz"):
            same = (told / "bundle" / file).read_bytes() == (called / "bundle" / file).read_bytes()
            assert same, f"{file} differs"


if __name__ == "__main__":
    main()
