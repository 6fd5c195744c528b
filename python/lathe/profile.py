"""What a search could choose from."""
from lathe import _library
from lathe._found import Found
from lathe.network import Network
from lathe.tables import short, table


class Profile(Found):
    """The networks that a search could find; ``lathe.profile`` returns one.

    >>> import lathe
    >>> net = lathe.load("model.onnx")
    >>> found = lathe.profile(net, families=["grouped"], neural=1)
    >>> found.log10_networks > 1
    True
    >>> found.macs[0] < found.macs[1] == net.macs
    True
    """

    @property
    def log10_networks(self) -> float:
        """How many networks there are: 10 to the power of this."""
        return self._found["log10_networks"]

    @property
    def macs(self) -> tuple[int, int]:
        """How many products the smallest network computes, and this one."""
        return tuple(self._found["macs"])

    @property
    def weights(self) -> tuple[int, int]:
        """How many weights the smallest network has, and this one."""
        return tuple(self._found["weights"])

    @property
    def variants(self):
        """What each kind of layer can become."""
        return table([{"kind": kind["description"], **variant}
                      for kind in self._found["kinds"] for variant in kind["variants"]])

    @property
    def families(self):
        """How many variants of each family there are, by kind of layer, and how many of them a
        search scores."""
        return table([{"kind": kind["description"], "family": family, **counts}
                      for kind in self._found["kinds"]
                      for family, counts in kind["families"].items()])

    def _title(self):
        return f"10^{self.log10_networks:.0f} networks, of {short(self.macs[0])} to " \
               f"{short(self.macs[1])} MACs"

    def _rows(self):
        return ["kind", "layers", "variants"], [
            [kind["description"], str(len(kind["layers"])), str(len(kind["variants"]))]
            for kind in self._found["kinds"]]


def profile(net: Network, **options) -> Profile:
    """Says what a search could choose from, as ``lathe profile`` does.

    Options are those of ``lathe.optimize`` about layers: include, exclude, pointwise, narrow,
    families, without, neural, variants.
    """
    return Profile(_library.call("profile", {**net.options, **options}))
