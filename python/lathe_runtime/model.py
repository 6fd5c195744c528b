"""A compiled network: its libmodel.so, called through ctypes."""
import ctypes
import json
import os
import pathlib
import threading
import weakref

import numpy

from lathe_runtime.arrays import TYPES, places
from lathe_runtime.error import Error


def load(folder, threads=1) -> "Model":
    """Loads a folder that ``lathe compile`` wrote, or the bundle of a search. ``threads`` workers
    run it; 0 means one for each processor."""
    return Model(folder, threads)


class Model:
    """A network that is ready to run. Call it with its inputs.

    Several threads may call it: calls take turns, and the interpreter's lock is free meanwhile.
    """

    def __init__(self, folder, threads=1):
        folder = pathlib.Path(os.fspath(folder))
        self.folder = folder / "library" if (folder / "bundle.json").exists() else folder
        self._name = _manifest(self.folder)["name"]
        try:
            self._library = ctypes.CDLL(str(self.folder.resolve() / "libmodel.so"))
        except OSError as error:
            raise Error(f"'{self.folder}' cannot be loaded: {error}") from None
        self._threads, self._models, self._lock = threads, {}, threading.Lock()
        self.inputs, self.outputs = self._faces("input"), self._faces("output")

    def __call__(self, *arrays):
        """Returns the output for these inputs, or a tuple if there are several.

        Arrays are read where they are if they are dense and of the right type. If the folder has
        the network for several shapes, that of the inputs counts.
        """
        if len(arrays) != len(self.inputs):
            raise Error(f"{len(arrays)} inputs were given; there are {len(self.inputs)}: "
                        f"{', '.join(face['name'] for face in self.inputs)}")
        arrays = [_dense(array, face) for array, face in zip(arrays, self.inputs)]
        variant = self._variant(arrays)
        model = self._model(variant)
        outputs = [numpy.empty(self._shape(variant, i), TYPES[face["element"]])
                   for i, face in enumerate(self.outputs)]
        if self._function("run")(ctypes.c_void_p(model), places(arrays), places(outputs)) != 0:
            raise Error(self._error())
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __repr__(self):
        def one(face):
            return f"{face['name']}: {face['element']}{face['shape']}"
        return (f"<lathe_runtime.Model {self._name}: {', '.join(map(one, self.inputs))} -> "
                f"{', '.join(map(one, self.outputs))}>")

    def _function(self, name, result=ctypes.c_int):
        function = getattr(self._library, f"{self._name}_{name}")
        function.restype = result
        return function

    def _error(self):
        return self._function("error", ctypes.c_char_p)().decode()

    def _faces(self, kind):
        extents = ctypes.POINTER(ctypes.c_int64)
        def face(i):
            rank = self._function(f"{kind}_rank")(i)
            return {"name": self._function(f"{kind}_name", ctypes.c_char_p)(i).decode(),
                    "element": self._function(f"{kind}_element", ctypes.c_char_p)(i).decode(),
                    "shape": self._function(f"{kind}_shape", extents)(i)[:rank]}
        return [face(i) for i in range(self._function(f"{kind}_count")())]

    def _variant(self, arrays):
        """Returns which of the shapes that the network was compiled for these arrays have."""
        shapes = [(ctypes.c_int64 * max(1, array.ndim))(*array.shape) for array in arrays]
        pointers = (ctypes.c_void_p * len(shapes))(*[ctypes.addressof(each) for each in shapes])
        right_ranks = all(array.ndim == len(face["shape"])
                          for array, face in zip(arrays, self.inputs))
        variant = self._function("variant_for")(pointers) if right_ranks else -1
        if variant < 0:
            given = ", ".join(str(list(array.shape)) for array in arrays)
            wanted = ", ".join(str(face["shape"]) for face in self.inputs)
            raise Error(f"the network was not compiled for the shape {given}, but for {wanted}; "
                        "'lathe compile --also' adds shapes")
        return variant

    def _model(self, variant):
        with self._lock:
            if variant not in self._models:
                model = self._function("create_variant", ctypes.c_void_p)(variant, self._threads)
                if not model:
                    raise Error(f"'{self.folder}': {self._error()}")
                self._models[variant] = model
                weakref.finalize(self, self._function("destroy", None), ctypes.c_void_p(model))
            return self._models[variant]

    def _shape(self, variant, output):
        shape = self._function("variant_output_shape", ctypes.POINTER(ctypes.c_int64))
        return tuple(shape(variant, output)[:len(self.outputs[output]["shape"])])


def _manifest(folder):
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
    except FileNotFoundError:
        raise Error(f"'{folder}' has no manifest.json: 'lathe compile' writes folders that can be "
                    "loaded") from None
    except ValueError:
        raise Error(f"'{path}' is damaged") from None
    if manifest.get("format") != "lathe-library":
        raise Error(f"'{path}' is no manifest of a compiled library")
    return manifest


def _dense(array, face):
    array = numpy.asarray(array)
    if face["element"] not in TYPES:
        raise Error(f"NumPy has no {face['element']}, which {face['name']} is")
    if not numpy.can_cast(array.dtype, TYPES[face["element"]], "same_kind"):
        raise Error(f"{face['name']} is {TYPES[face['element']]}, and was given as {array.dtype}")
    return numpy.ascontiguousarray(array, TYPES[face["element"]])
