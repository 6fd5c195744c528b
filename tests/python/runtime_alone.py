"""lathe-runtime without Lathe: it loads a folder in a process that has no compiler."""
import pathlib
import subprocess
import sys
import tempfile

import lathe
import numpy as np

ALONE = """
import sys
sys.modules["lathe"] = None  # it must do without
import lathe_runtime, numpy as np
model = lathe_runtime.load({folder!r}, threads=2)
assert model.inputs == [{{"name": "input", "element": "f32", "shape": [1, 3, 32, 32]}}]
np.save({output!r}, model(np.load({input!r})))
assert model(np.zeros((4, 3, 32, 32), np.float32)).shape == (4, 10)
for wrong in [np.zeros((3, 3, 32, 32), np.float32), np.zeros((1, 32), np.float32),
              np.zeros((1, 3, 32, 32), bool).astype(str)]:
    try:
        model(wrong)
    except lathe_runtime.Error as error:
        print(error)
    else:
        raise AssertionError(wrong.shape)
try:
    lathe_runtime.load("/nowhere")
except lathe_runtime.Error as error:
    print(error)
"""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        net = lathe.model("nasbench201:6111")
        out = net.compile(folder / "out", also=["batch=4"], progress=False)
        x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), dtype=np.float32)
        np.save(folder / "x.npy", x)
        code = ALONE.format(folder=str(out), input=str(folder / "x.npy"),
                            output=str(folder / "y.npy"))
        subprocess.run([sys.executable, "-c", code], check=True)
        np.testing.assert_allclose(np.load(folder / "y.npy"), net(x), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
