"""Networks on 8-bit integers."""
from lathe._found import Found
from lathe.fit import with_file
from lathe.network import Network
from lathe.tables import table


class Quantized(Found):
    """A network whose layers read 8-bit integers; ``lathe.quantize`` returns one.

    >>> import lathe
    >>> net = lathe.load("model.onnx")
    >>> found = lathe.quantize(net, "synthetic:0", images=32, limit=32, progress=False)
    >>> len(found.layers) > 0 and found.network.is_trained
    True
    """

    def __init__(self, found, network):
        super().__init__(found)
        self.network: Network = network

    @property
    def layers(self):
        """What each layer reads, its scale and zero, and how far it is off; or why it stays
        f32."""
        return table(self._found["layers"])

    @property
    def top1(self):
        """The accuracy in percent before and after; None if the data have no labels."""
        if "f32" not in self._found:
            return None
        return {name: self._found[name]["top1"] for name in ("f32", "int8")}

    def _title(self):
        if self.top1 is None:
            return "8-bit integers"
        return f"top-1: f32 {self.top1['f32']:.2f} %, int8 {self.top1['int8']:.2f} %"

    def _rows(self):
        return ["layer", "reads", "error"], [
            [layer["layer"], layer.get("f32_because") or
             f"{layer['least']:.3g} to {layer['greatest']:.3g}",
             f"{100 * layer['error']:.2f} %" if "error" in layer else "-"]
            for layer in self._found["layers"]]


def quantize(net: Network, data, *, output=None, progress=True, **options) -> Quantized:
    """Makes layers read 8-bit integers, and says what that costs, as ``lathe quantize`` does.

    ``net`` is trained; ``data`` is as ``lathe.dataset`` takes it. ``output`` is the ONNX file to
    write. Other options: normalize, images, calibration, limit, threads.
    """
    return Quantized(*with_file("quantize", net, data, output, "quantizing", progress, options))
