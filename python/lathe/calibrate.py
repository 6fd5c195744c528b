"""How far scores tell what training says."""
import os

from lathe import _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network
from lathe.tables import table


class Calibration(Found):
    """A rule of the gate, fitted to networks that were trained; ``lathe.calibrate`` returns one."""

    @property
    def rule(self) -> dict:
        """The rule: which scores it reads, its weights and bands."""
        return dict(self._found["rule"])

    @property
    def area(self) -> float:
        """How well it tells networks that keep their accuracy from others: the area under the
        curve, each network judged by a rule that was fitted to all others."""
        return self._found["two-sided"]["area"]

    @property
    def networks(self):
        """Each network: its accuracy, and what the rule predicts."""
        return table(self._found["networks"])

    @property
    def details(self) -> dict:
        """All that was found; "test" is of networks that took no part."""
        return dict(self._found)

    def _title(self):
        return f"area under the curve {self.area:.2f}, {len(self._found['networks'])} networks"

    def _rows(self):
        return ["network", "top-1", "change", "predicted"], [
            [each["network"], f"{each['top1']:.2f}", f"{each['change']:+.2f}",
             f"{each['predicted']:+.2f}"] for each in self._found["networks"]]


class CellCalibration(Found):
    """How far scores of cells are in the order of their accuracies; ``lathe.calibrate_cells``
    returns one."""

    @property
    def table(self):
        """The rank correlations of each metric, with 95 % intervals."""
        return table(self._found["metrics"])

    @property
    def details(self) -> dict:
        """All that was found."""
        return dict(self._found)

    def _title(self):
        return f"{self._found['cells']} cells"

    def _rows(self):
        return ["metric", "Spearman", "Kendall"], [
            [each["metric"], f"{each['spearman']:.3f}", f"{each['kendall']:.3f}"]
            if "spearman" in each else [each["metric"], each["failure"], ""]
            for each in self._found["metrics"]]


def calibrate(net: Network, tables, *, tests=(), metrics=None, tolerance=None, data=None,
              journal=None, rule=None, progress=True, **options) -> Calibration:
    """Fits a rule of the gate to networks that recipes made of ``net`` and that were trained, as
    ``lathe calibrate`` does.

    ``tables`` is a file of such networks with their accuracy, or several; the rule is tested on
    those of ``tests``. ``rule`` is a file to write the rule to, ``journal`` a folder that keeps
    scores. Other options are those of ``lathe score``.

    >>> import lathe
    >>> found = lathe.calibrate(lathe.model("resnet34-cifar"), "trained.json", progress=False)
    >>> 0.5 < found.area < 1 and len(found.networks) == 36
    True
    """
    return Calibration(_work.call("calibrate", {
        **net.options, "tables": _paths(tables), "tests": _paths(tests), "metrics": metrics,
        "tolerance": tolerance, "data": dataset(data), "journal": journal, "write_rule": rule,
        **options}, "scoring", progress))


def calibrate_cells(accuracies, *, column=None, metrics=None, sample=None, data=None,
                    journal=None, progress=True, **options) -> CellCalibration:
    """Compares the scores of cells of NAS-Bench-201 with their accuracies, as ``lathe calibrate
    nasbench201`` does.

    ``accuracies`` is a CSV file, ``column`` its column that holds them, ``sample`` how many cells
    are drawn. Other options are those of ``lathe score``.

    >>> import lathe
    >>> found = lathe.calibrate_cells("cells.csv", metrics="macs", sample=3, progress=False)
    >>> len(found.table), found.details["cells"]
    (1, 3)
    """
    return CellCalibration(_work.call("calibrate_cells", {
        "network": "nasbench201", "table": os.fspath(accuracies), "column": column,
        "metrics": metrics, "sample": sample, "data": dataset(data), "journal": journal,
        **options}, "scoring", progress))


def _paths(given):
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    return [os.fspath(path) for path in given]
