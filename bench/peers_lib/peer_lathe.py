"""Lathe: the library that 'lathe compile' wrote, called through its C interface."""
from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np

from .task import Task


class Lathe:
    """A model of the library, with the addresses of inputs and outputs prepared once."""

    def __init__(self, task: Task) -> None:
        folder = Path(task.library)
        manifest = json.loads((folder / "manifest.json").read_text())
        self._name: str = manifest["name"]
        self.version: str = str(manifest.get("version", "?"))
        self._library = ctypes.CDLL(str((folder / "libmodel.so").resolve()))
        arrays = task.arrays()
        inputs = [self._match(i, arrays) for i in range(self._call("input_count"))]
        count = self._call("output_count")
        self._results = [self._array("output", i) for i in range(count)]
        self._arrays = inputs
        self._input_table = self._table(inputs)
        self._output_table = self._table(self._results)
        self._run = self._function("run", ctypes.c_int, *[ctypes.c_void_p] * 3)
        create = self._function("create", ctypes.c_void_p, ctypes.c_int)
        self._model = create(task.threads)
        if not self._model:
            raise RuntimeError(f"{self._name}_create failed: {self._error()}")

    def _function(self, name: str, result: type | None, *arguments: type) -> ctypes._CFuncPtr:
        function = getattr(self._library, f"{self._name}_{name}")
        function.restype, function.argtypes = result, list(arguments)
        return function

    def _call(self, name: str) -> int:
        return self._function(name, ctypes.c_int)()

    def _error(self) -> str:
        text = self._function("error", ctypes.c_char_p)()
        return text.decode(errors="replace") if text else "no reason given"

    def _shape(self, side: str, i: int) -> tuple[int, ...]:
        rank = self._function(f"{side}_rank", ctypes.c_int, ctypes.c_int)(i)
        shape = self._function(
            f"{side}_shape", ctypes.POINTER(ctypes.c_int64), ctypes.c_int
        )(i)
        return tuple(shape[:rank])

    def _bytes(self, side: str, i: int) -> int:
        return self._function(f"{side}_bytes", ctypes.c_int64, ctypes.c_int)(i)

    def _array(self, side: str, i: int) -> np.ndarray:
        """A new array of the size that the library tells: floats, or 64-bit integers."""
        shape, size = self._shape(side, i), self._bytes(side, i)
        elements = int(np.prod(shape, dtype=np.int64))
        if size not in (4 * elements, 8 * elements):
            raise RuntimeError(f"{side} {i}: {size} bytes for shape {shape}")
        return np.zeros(shape, np.float32 if size == 4 * elements else np.int64)

    def _match(self, i: int, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """The array for input i: by its name, else by its place."""
        name = self._function("input_name", ctypes.c_char_p, ctypes.c_int)(i).decode()
        array = arrays.get(name, list(arrays.values())[i])
        array = np.ascontiguousarray(array)
        if array.nbytes != self._bytes("input", i):
            wanted = self._shape("input", i)
            raise RuntimeError(f"input '{name}' is {wanted}, the model's is {array.shape}")
        return array

    @staticmethod
    def _table(arrays: list[np.ndarray]) -> ctypes.Array:
        return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])

    def run(self) -> None:
        if self._run(self._model, self._input_table, self._output_table) != 0:
            raise RuntimeError(f"{self._name}_run failed: {self._error()}")

    def outputs(self) -> list[np.ndarray]:
        self.run()
        return [array.copy() for array in self._results]


load = Lathe
