"""What nests are, changed or not."""


class Loops:
    """A nest as Lathe described it: ``_described`` returns that."""

    @property
    def text(self) -> str:
        """The nest, in Lathe's notation."""
        return self._described()["text"]

    @property
    def loops(self) -> list[dict]:
        """The loops of each statement: name, extent and mark."""
        return self._described()["statements"]

    @property
    def macs(self) -> int:
        """How many products it computes."""
        return self._described()["cost"]["macs"]

    @property
    def weights(self) -> int:
        """How many weights it reads."""
        return self._described()["cost"]["weights"]
