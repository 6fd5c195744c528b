"""The network that a search hands over."""
import os
import pathlib

from lathe.compiled import Compiled
from lathe.network import Network
from lathe.tables import short


class Winner:
    """A network that was found, with its bundle: library, ONNX file, PyTorch module, recipe."""

    def __init__(self, bundle, result):
        self.bundle = pathlib.Path(bundle)
        self._result, self._winner = result, result["winner"]

    @property
    def ms(self) -> float:
        """Milliseconds of one run, measured in turns with the original."""
        return self._winner["ms"]

    @property
    def original_ms(self) -> float:
        """Milliseconds of the original in the same measurement."""
        return self._winner["original_ms"]

    @property
    def speedup(self) -> float:
        """How many times as fast as the original it is."""
        return self.original_ms / self.ms

    @property
    def macs(self) -> int:
        """How many products it computes."""
        return self._winner["macs"]

    @property
    def weights(self) -> int:
        """How many weights it has."""
        return self._winner["weights"]

    @property
    def predicted(self):
        """The points of accuracy that are expected to change; None if that is not calibrated."""
        return self._winner.get("verdict", {}).get("predicted")

    @property
    def recipe(self) -> str:
        """The path of the recipe: what was done to each layer. ``Network.apply`` takes it."""
        return str(self.bundle / "winner.recipe")

    @property
    def network(self) -> Network:
        """The network itself, with the weights that it has before it is trained."""
        return Network(network=str(self.bundle / "model.onnx"))

    @property
    def library(self) -> Compiled:
        """The network as it was measured: compiled, ready to run."""
        return Compiled(self.bundle / "library")

    def to_torch(self):
        """Returns a ``torch.nn.Module`` with inherited weights, in evaluation mode."""
        from lathe.to_torch import from_file
        return from_file(self.bundle / "model.py")

    def teacher(self):
        """Returns the original as a ``torch.nn.Module``, for ``lathe.finetune``; None if it was not
        trained."""
        from lathe.to_torch import from_file
        path = self.bundle / "original.py"
        return from_file(path) if path.exists() else None

    def compile(self, output, *, trained=None, progress=True, **options) -> str:
        """Writes it as a library, with the schedules that were found; returns the folder.

        ``trained`` is an ONNX file of the same network with other weights, or a PyTorch module that
        ``to_torch`` returned and that was trained since.
        """
        if trained is None:
            source = self.bundle / "model.onnx"
        elif isinstance(trained, (str, os.PathLike)):
            source = trained
        else:
            from lathe.to_torch import trained_file
            source = trained_file(trained, self.bundle)
        net = Network(network=os.fspath(source))
        return net.compile(output, recipe=self.recipe, progress=progress, **options)

    def summary(self) -> str:
        """Says in a line what it is."""
        if not self._result["found"]:
            return "nothing faster was found"
        text = (f"{self.ms:.3f} ms, was {self.original_ms:.3f} ms: {self.speedup:.2f} times as "
                f"fast; {short(self.weights)} weights, {short(self.macs)} MACs")
        return text if self.predicted is None else f"{text}; accuracy {self.predicted:+.2f} points"

    def __repr__(self):
        return f"<lathe.Winner {self.summary()}>"
