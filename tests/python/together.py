"""Lathe beside NumPy, PyTorch and ONNX Runtime in one process, loaded in any order.

Usage: tests/python/together.py [PYTHON]

What this Python lacks is taken from the packages of PYTHON, if it has it.
"""
import ctypes.util
import importlib.util
import itertools
import pathlib
import subprocess
import sys
import tempfile

import lathe

NETWORK = pathlib.Path(__file__).resolve().parents[2] / "examples/tiny.graph"
# Each computes something: that is when libraries load the rest of themselves.
STATEMENTS = {
    "numpy": "import numpy; assert (numpy.ones((8, 8)) @ numpy.ones((8, 8)))[0, 0] == 8",
    "torch": """
import torch
module = torch.jit.script(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()))
with torch.no_grad():
    for _ in range(3):  # the third call runs what its compiler made
        assert module(torch.ones(1, 3, 8, 8)).shape == (1, 8, 6, 6)
""",
    "onnxruntime": """
import onnxruntime, numpy
session = onnxruntime.InferenceSession({onnx!r}, providers=["CPUExecutionProvider"])
theirs, = session.run(None, {{"image": numpy.ones((1, 3, 8, 8), "f4")}})
""",
    "lathe": """
import lathe, numpy
mine = lathe.load({onnx!r})(numpy.ones((1, 3, 8, 8), "f4"))
assert mine.shape == (1, 10)
""",
}
# Another LLVM, whose functions all of the process sees.
LLVM = """
import ctypes, ctypes.util
ctypes.CDLL(ctypes.util.find_library("LLVM-19"), ctypes.RTLD_GLOBAL).LLVMContextCreate()
"""
SAME = """
assert "theirs" not in globals() or abs(mine - theirs).max() < 1e-5, (mine, theirs)
"""


def packages_of(python):
    """Returns the folder of another Python's packages."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def main(python=None):
    others = packages_of(python) if python and pathlib.Path(python).exists() else ""
    # Behind this Python's own: of a package that both have, its own counts.
    begin = f"import sys; sys.path.append({others!r})\n" if others else ""
    sys.path += [others] if others else []
    present = [name for name in STATEMENTS if importlib.util.find_spec(name)]
    orders = list(itertools.permutations(present))
    if ctypes.util.find_library("LLVM-19"):
        STATEMENTS["llvm"] = LLVM
        orders += [("llvm", "lathe"), ("lathe", "llvm")]
    with tempfile.TemporaryDirectory() as folder:
        onnx = lathe.load(NETWORK).export(f"{folder}/tiny.onnx")
        for order in orders:
            code = begin + "\n".join(STATEMENTS[name].format(onnx=onnx) for name in order) + SAME
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                    timeout=60)
            assert result.returncode == 0, f"{order}: {result.returncode}\n{result.stderr}"
    print(f"{', '.join(present)} in every order; another LLVM: {'llvm' in STATEMENTS}")
    missing = [name for name in STATEMENTS if name not in [*present, "llvm"]]
    if missing:
        print(f"left out: {', '.join(missing)} (scripts/setup --all)")


if __name__ == "__main__":
    main(*sys.argv[1:])
