"""Apache TVM (Relax) without tuning."""
from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

# Read when the library is loaded: the worker's process is pinned already.
os.environ["TVM_BIND_THREADS"] = "0"

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from .task import Task


def _target() -> Any:
    """The machine's processor, without what its name promises and the machine does not have."""
    if platform.machine() in ("aarch64", "arm64"):
        # A host's name may imply SVE where the machine has none: name the features instead.
        return tvm.target.Target({"kind": "llvm", "mtriple": "aarch64-linux-gnu",
                                  "mattr": ["+neon", "-sve"]})
    host = tvm.get_global_func("target.llvm_get_system_cpu", allow_missing=True)
    return tvm.target.Target({"kind": "llvm", "mcpu": host() if host else "x86-64-v3"})


class Tvm:
    """A virtual machine with the compiled network, made once and kept for other thread counts."""

    version = tvm.__version__

    def __init__(self, task: Task) -> None:
        arrays = task.arrays()
        library = Path(task.folder) / "tvm.so"
        if not library.exists():
            shapes = {name: list(array.shape) for name, array in arrays.items()}
            module = from_onnx(onnx.load(task.model), shape_dict=shapes)
            # No part of the default pipeline, which would compute them at every run.
            module = relax.transform.FoldBatchnormToConv2D()(module)
            library.parent.mkdir(parents=True, exist_ok=True)
            tvm.compile(module, target=_target()).export_library(str(library))
        device = tvm.cpu()
        self._machine = relax.VirtualMachine(tvm.runtime.load_module(str(library)), device)
        self._main = self._machine["main"]
        self._arguments = [tvm.runtime.tensor(array, device) for array in arrays.values()]

    def run(self) -> None:
        self._main(*self._arguments)

    def outputs(self) -> list[np.ndarray]:
        result = self._main(*self._arguments)
        return [r.numpy() for r in ([result] if hasattr(result, "numpy") else result)]


load = Tvm
