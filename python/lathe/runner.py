"""A network that is compiled in this process."""
import ctypes
import json
import weakref

import numpy

from lathe import _library, _work
from lathe.arrays import numpy_type
from lathe_runtime.arrays import places


class Runner:
    """Runs a network on dense arrays, which Lathe reads and writes where they are."""

    def __init__(self, options):
        def opened(hears):
            handle = _library.library().lathe_runner_open(_library.options_text(options),
                                                          ctypes.byref(hears))
            if not handle:
                raise _library.failure(None)
            return handle
        self._handle = _work.work(opened, "compiling")
        lib = _library.library()
        weakref.finalize(self, lib.lathe_runner_close, self._handle)
        about = json.loads(lib.lathe_runner_about(self._handle))
        self._inputs, self._outputs = about["inputs"], about["outputs"]

    def __call__(self, *arrays):
        """Returns the outputs for arrays of the types and shapes that the network reads."""
        outputs = [numpy.empty(face["shape"], numpy_type(face["element"]))
                   for face in self._outputs]
        status = _library.library().lathe_runner_run(self._handle, places(arrays), places(outputs))
        if status != _library.DONE:
            raise _library.failure(status)
        return outputs
