"""ncnn, with models that pnnx converted."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ncnn
import numpy as np

from . import ncnn_int8
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
    # pnnx reads no files of 8-bit integers.
    shutil.copyfile(task.floats or task.model, folder / "model.onnx")
    command = [_pnnx(), "model.onnx", f"inputshape={shapes}", "fp16=0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if not (folder / "model.ncnn.bin").exists():
        said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(f"pnnx: {said[-1]}")


def _foreign_layers(param: Path) -> list[str]:
    """The layers that pnnx had to leave as they were, for want of one of ncnn."""
    kinds = [line.split()[0] for line in param.read_text().splitlines()[2:] if line.strip()]
    return sorted({kind for kind in kinds if "." in kind or "::" in kind})


def _load(param: Path, data: Path, threads: int, precision: str) -> ncnn.Net:
    """Loads both files, with nothing allowed below fp32 but what is wanted."""
    net = ncnn.Net()
    options = net.opt
    options.use_vulkan_compute = False
    options.num_threads = threads
    wanted = {"f16": "fp16", "bf16": "bf16"}.get(precision)
    for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic",
                 "use_bf16_packed", "use_bf16_storage"):
        if hasattr(options, name):
            setattr(options, name, wanted is not None and wanted in name)
    for load_file, file in ((net.load_param, param), (net.load_model, data)):
        if load_file(str(file)) != 0:
            raise RuntimeError(f"ncnn could not load {file.name}")
    return net


def _extracted(net: ncnn.Net, inputs: list[ncnn.Mat], outputs: list[str]) -> list[ncnn.Mat]:
    """Runs a network up to some of its values."""
    extractor = net.create_extractor()
    for name, mat in zip(net.input_names(), inputs, strict=True):
        extractor.input(name, mat)
    results = []
    for name in outputs:
        status, mat = extractor.extract(name)
        if status != 0:
            raise RuntimeError(f"ncnn could not compute '{name}': status {status}")
        results.append(mat)
    return results


def _make_integers(task: Task, files: tuple[Path, Path], to: tuple[Path, Path]) -> None:
    """Writes the model on 8-bit integers, with the images that Lathe's scales are for, too."""
    net = _load(*files, task.threads, "f32")

    def extract(blobs: list[str], image: np.ndarray) -> list[np.ndarray]:
        mats = [ncnn.Mat(np.ascontiguousarray(image))]
        return [np.array(mat) for mat in _extracted(net, mats, blobs)]

    ncnn_int8.convert(files, to, extract, np.load(task.images))


class Ncnn:
    """A network that computes in fp32, or in fp16 or on 8-bit integers if that is wanted."""

    version = ncnn.__version__

    def __init__(self, task: Task) -> None:
        folder = Path(task.folder)
        param, data = folder / "model.ncnn.param", folder / "model.ncnn.bin"
        if not data.exists():
            _convert(task, folder)
        if foreign := _foreign_layers(param):
            raise NotImplementedError(f"ncnn has no layer for {', '.join(foreign)}")
        self._floats: tuple[Path, Path] | None = None
        if task.precision == "int8":
            self._floats, param, data = (param, data), folder / "int8.param", folder / "int8.bin"
            if not data.exists():
                _make_integers(task, self._floats, (param, data))
        self._net = _load(param, data, task.threads, task.precision)
        # ncnn has no batch dimension.
        self._arrays = [
            np.ascontiguousarray(a[0], np.int32 if a.dtype.kind == "i" else a.dtype)
            for a in task.arrays().values()
        ]
        self._mats = [ncnn.Mat(array) for array in self._arrays]
        self._outputs = list(self._net.output_names())

    def _extract(self) -> list[ncnn.Mat]:
        return _extracted(self._net, self._mats, self._outputs)

    def run(self) -> None:
        self._extract()

    def outputs(self) -> list[np.ndarray]:
        return [np.array(mat) for mat in self._extract()]

    def floats(self) -> list[np.ndarray]:
        """The outputs of the model on floats, where this one is on integers."""
        if not self._floats:
            return []
        net = _load(*self._floats, 1, "f32")
        return [np.array(mat) for mat in _extracted(net, self._mats, self._outputs)]


load = Ncnn
