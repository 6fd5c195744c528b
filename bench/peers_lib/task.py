"""What a worker is asked to load, and what every peer offers."""
from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Task:
    """A model, its inputs as .npy files in the model's order, and how to run it."""

    model: str
    inputs: dict[str, str]
    threads: int
    cpus: list[int]
    folder: str  # for files that a peer makes of the model; kept between thread counts
    library: str = ""  # the folder that 'lathe compile' wrote
    precision: str = "f32"  # what may be computed in; a peer that lacks it computes in f32
    floats: str = ""  # of a model on 8-bit integers: the one on floats that it was made of,
    images: str = ""  # and the .npy file of the inputs that its scales are for

    def save(self, path: Path) -> None:
        """Writes the task as JSON."""
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def load(path: Path) -> Task:
        """Reads what save() wrote."""
        return Task(**json.loads(path.read_text()))

    def arrays(self) -> dict[str, np.ndarray]:
        """The inputs by name, in the model's order."""
        import numpy as np

        return {name: np.load(path) for name, path in self.inputs.items()}


class NotInstalled(Exception):
    """The library of a peer is not there."""


class Peer(Protocol):
    """A model loaded by one library, ready to run on the inputs of its task."""

    version: str

    def run(self) -> None:
        """Runs the model once, to the end; this is what is timed."""

    def outputs(self) -> list[np.ndarray]:
        """Runs the model once and returns its outputs in order."""

    # A peer that chooses its own integers has floats(), too: the outputs of the model on floats.
