"""ncnn, with models that pnnx converted."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ncnn
import numpy as np

from .task import NotInstalled, Task


def _pnnx() -> str:
    """The converter: of the Python package, next to this Python, or on the PATH."""
    try:
        import pnnx

        if Path(pnnx.EXEC_PATH).exists():
            return str(pnnx.EXEC_PATH)
    except (ImportError, AttributeError):
        pass
    beside = Path(sys.executable).parent / "pnnx"
    found = str(beside) if beside.exists() else shutil.which("pnnx")
    if not found:
        raise NotInstalled("no 'pnnx', which converts models for ncnn")
    return found


def _convert(task: Task, folder: Path) -> None:
    """Makes model.ncnn.param and model.ncnn.bin with weights in fp32."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {"float32": "f32", "int64": "i64", "int32": "i32"}
    shapes = ",".join(
        f"[{','.join(map(str, array.shape))}]{kinds[str(array.dtype)]}"
        for array in task.arrays().values()
    )
    shutil.copyfile(task.model, folder / "model.onnx")
    command = [_pnnx(), "model.onnx", f"inputshape={shapes}", "fp16=0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if not (folder / "model.ncnn.bin").exists():
        said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(f"pnnx: {said[-1]}")


def _foreign_layers(param: Path) -> list[str]:
    """The layers that pnnx had to leave as they were, for want of one of ncnn."""
    kinds = [line.split()[0] for line in param.read_text().splitlines()[2:] if line.strip()]
    return sorted({kind for kind in kinds if "." in kind or "::" in kind})


class Ncnn:
    """A network whose options allow nothing below fp32, or fp16 if that is wanted."""

    version = ncnn.__version__

    def __init__(self, task: Task) -> None:
        folder = Path(task.folder)
        if not (folder / "model.ncnn.bin").exists():
            _convert(task, folder)
        self._net = ncnn.Net()
        options = self._net.opt
        options.use_vulkan_compute = False
        options.num_threads = task.threads
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic",
                     "use_bf16_packed", "use_bf16_storage"):
            if hasattr(options, name):
                setattr(options, name, task.precision == "f16" and "fp16" in name)
        if foreign := _foreign_layers(folder / "model.ncnn.param"):
            raise NotImplementedError(f"ncnn has no layer for {', '.join(foreign)}")
        for load_file, name in ((self._net.load_param, "param"), (self._net.load_model, "bin")):
            if load_file(str(folder / f"model.ncnn.{name}")) != 0:
                raise RuntimeError(f"ncnn could not load the .{name} file that pnnx wrote")
        # ncnn has no batch dimension.
        self._arrays = [
            np.ascontiguousarray(a[0], np.int32 if a.dtype.kind == "i" else a.dtype)
            for a in task.arrays().values()
        ]
        self._mats = [ncnn.Mat(array) for array in self._arrays]
        self._inputs = list(self._net.input_names())
        self._outputs = list(self._net.output_names())

    def _extract(self) -> list[ncnn.Mat]:
        extractor = self._net.create_extractor()
        for name, mat in zip(self._inputs, self._mats, strict=True):
            extractor.input(name, mat)
        results = []
        for name in self._outputs:
            status, mat = extractor.extract(name)
            if status != 0:
                raise RuntimeError(f"ncnn could not compute '{name}': status {status}")
            results.append(mat)
        return results

    def run(self) -> None:
        self._extract()

    def outputs(self) -> list[np.ndarray]:
        return [np.array(mat) for mat in self._extract()]


load = Ncnn
