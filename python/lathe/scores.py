"""What metrics say of a network."""
import statistics

from lathe._found import Found
from lathe.tables import table


class Scores(Found):
    """Scores of a network before it is trained, seed by seed; ``lathe.score`` returns them.

    >>> import lathe
    >>> net = lathe.model("nasbench201:6111")
    >>> scores = lathe.score(net, "macs,params", samples=8, seeds=1, progress=False)
    >>> int(scores["macs"]) == net.macs
    True
    """

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return [each["metric"] for each in self._found["original"]]

    def __getitem__(self, metric) -> float:
        """The mean over all seeds: of the changed network, if a recipe was given."""
        return statistics.fmean(self.seeds(metric))

    def seeds(self, metric, of=None) -> list[float]:
        """The score for each seed. ``of`` is "original" or "changed"; the changed network unless
        told, if there is one."""
        for each in self._found[of or ("changed" if "changed" in self._found else "original")]:
            if each["metric"] == metric:
                return list(each["totals"])
        raise KeyError(metric)

    @property
    def table(self):
        """One row for each metric, with the mean of the original and of the changed network."""
        rows = []
        for metric in self.metrics:
            row = {"metric": metric, "original": statistics.fmean(self.seeds(metric, "original"))}
            if "changed" in self._found:
                row["changed"] = statistics.fmean(self.seeds(metric, "changed"))
            rows.append(row)
        return table(rows)

    @property
    def layers(self):
        """The mean score of each layer, by each metric that has them."""
        found = self._found.get("changed", self._found["original"])
        return table([{"metric": each["metric"], "layer": layer["layer"],
                       "score": statistics.fmean(layer["scores"])}
                      for each in found for layer in each["layers"]])

    def _rows(self):
        changed = "changed" in self._found
        heads = ["metric", "original", "changed"] if changed else ["metric", "score"]
        return heads, [[metric] + [f"{statistics.fmean(self.seeds(metric, of)):.5g}"
                                   for of in ("original", "changed")[:1 + changed]]
                       for metric in self.metrics]
