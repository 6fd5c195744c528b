"""A network that was compiled before."""
import lathe_runtime

from lathe.arrays import as_they_came, to_numpy
from lathe.error import Error


class Compiled:
    """A folder that ``Network.compile`` wrote, ready to run. ``lathe.load`` returns one.

    >>> import lathe, numpy, tempfile
    >>> folder = lathe.model("nasbench201:6111").compile(tempfile.mkdtemp())
    >>> lathe.load(folder)(numpy.zeros((1, 3, 32, 32), numpy.float32)).shape
    (1, 10)
    """

    def __init__(self, folder):
        try:
            self._model = lathe_runtime.load(folder)
        except lathe_runtime.Error as error:
            raise Error(str(error)) from None

    @property
    def inputs(self) -> list[dict]:
        """What goes in: name, element and shape."""
        return self._model.inputs

    @property
    def outputs(self) -> list[dict]:
        """What comes out: name, element and shape."""
        return self._model.outputs

    def __call__(self, *inputs):
        """Runs the network on NumPy arrays or torch tensors; outputs are of the same kind."""
        arrays = [to_numpy(each, face) for each, face in zip(inputs, self.inputs)]
        try:
            found = self._model(*arrays)
        except lathe_runtime.Error as error:
            raise Error(str(error)) from None
        outputs = [as_they_came(each, inputs)
                   for each in (found if isinstance(found, tuple) else (found,))]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __repr__(self):
        return f"<lathe.Compiled {self._model.folder}>"
