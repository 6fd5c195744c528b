"""Lathe beside NumPy, PyTorch and ONNX Runtime in one process, loaded in any order."""
import importlib.util
import itertools
import subprocess
import sys

STATEMENTS = {
    "numpy": "import numpy; numpy.ones((64, 64)) @ numpy.ones((64, 64))",
    "torch": "import torch; torch.nn.Conv2d(3, 8, 3)(torch.ones(1, 3, 8, 8))",
    "onnxruntime": "import onnxruntime; onnxruntime.get_available_providers()",
    "lathe": "import lathe, numpy as np; net = lathe.model('nasbench201:6111'); "
             "assert net(np.ones((1, 3, 32, 32), 'f4')).shape == (1, 10)",
}


def main():
    present = [name for name in STATEMENTS if importlib.util.find_spec(name)]
    for order in itertools.permutations(present):
        code = "\n".join(STATEMENTS[name] for name in order)
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert result.returncode == 0, f"{order}: {result.returncode}\n{result.stderr}"
    missing = [name for name in STATEMENTS if name not in present]
    print(f"{', '.join(present)} in every order" +
          (f"; not here: {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
