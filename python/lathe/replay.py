"""Bundles made again."""
import os

from lathe import _work
from lathe._found import Found


class Replayed(Found):
    """A bundle that was made again; ``lathe.replay`` returns one. It is true if all its files are
    those of the bundle that the recipe came from."""

    @property
    def folder(self) -> str:
        """Where it is."""
        return self._found["folder"]

    @property
    def same(self):
        """Are all files the same, byte for byte? None if there is nothing to compare with."""
        return self._found.get("compared", {}).get("same")

    @property
    def others(self) -> list[str]:
        """The files that are not the same."""
        return list(self._found.get("compared", {}).get("others", []))

    def __bool__(self):
        return bool(self.same)

    def _title(self):
        return f"{self.folder}: {self._found['network']}, {self._found['layers']} layers changed"

    def _rows(self):
        compared = self._found.get("compared", {})
        return ["compared with", "the same", "others"], [
            [compared.get("folder", "-"), str(self.same), " ".join(self.others) or "-"]]


def replay(recipe, output, *, network=None, progress=True) -> Replayed:
    """Makes the bundle of a search again from its recipe, as ``lathe replay`` does.

    ``recipe`` is a ``winner.recipe``, or the folder of a bundle; ``network`` says where the
    network's file is now, if it was moved.
    """
    options = {"recipe": os.fspath(recipe), "output": os.fspath(output),
               "network": None if network is None else os.fspath(network)}
    return Replayed(_work.call("replay", options, "compiling", progress))
