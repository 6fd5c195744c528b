"""What each worker may do in a search, and why not more."""


class Fitness:
    """Says of workers whether they may score and measure.

    ``here`` is the machine of the search. Times are of that one or, where ``kind`` names machines,
    of the first of them that comes. ``say`` gets what the search is to hear.
    """

    def __init__(self, here, kind, say):
        self._here, self._kind, self._say = here, kind, say
        self._told = set()  # addresses of workers of which the search heard
        self.unfit = {}  # why workers cannot have the files of the search, by address
        self.machine = None if kind else here["machine"]  # of which times are
        if not kind:
            say({"machine": here})

    def about_here(self):
        """Returns what a worker that scores and measures says of itself."""
        return {**self._here, "machine": self.machine}

    def reasons(self, address, about):
        """Says why a worker does not do each kind of work; None where it does."""
        unable = self._why_not(about) or self.unfit.get(address)
        if unable:
            return {"scores": unable, "measures": unable}
        return {"scores": self._why_no_scores(about), "measures": self._why_no_measures(about)}

    def tell_of(self, address, about, reasons):
        """Tells the search, once, what a worker does not do."""
        # Machines of other names were not asked for: that they only score is no news.
        is_meant = not (self._kind and about and about["kind"] != self._kind)
        reason = self._told_of(reasons) if is_meant or all(reasons.values()) else ""
        if not reason or address in self._told:
            return
        self._told.add(address)
        self._say({"warning": f"worker {(about or {}).get('host', '')} at {address}: {reason}"})

    def _why_not(self, about):
        """Says why a worker can do nothing; None if it may."""
        if about is None:
            return "it is a worker of Dask, but none of Lathe: 'lathe worker' starts those"
        if about["version"] != self._here["version"]:
            return f"it has Lathe {about['version']}, and this search {self._here['version']}"
        return None

    def _why_no_scores(self, about):
        """Says why a machine scores nothing; None if it does."""
        if about["architecture"] == self._here["architecture"]:
            return None
        return (f"it is {about['architecture']}, and this search scores on "
                f"{self._here['architecture']}: its scores would have other bits")

    def _why_no_measures(self, about):
        """Says why a machine measures nothing; None if it does. The first one of a name says what
        machines of that name are."""
        if self._kind and about["kind"] == self._kind and self.machine is None:
            self.machine = about["machine"]
            self._say({"machine": {name: about.get(name) for name in self._here}})
        if about["machine"] == self.machine and about["kind"] == (self._kind or about["kind"]):
            return None
        measured = self.machine or f"machines called '{self._kind}'"
        named = f" ({about['kind']})" if about["kind"] else ""
        return f"it is {about['machine']}{named}, and times are of {measured}"

    @staticmethod
    def _told_of(reasons):
        """Says what a worker does not do; "" if it does all."""
        told = list(dict.fromkeys(reason for reason in reasons.values() if reason))
        if not told or all(reasons.values()):
            return "; ".join(told)
        done, left = sorted(reasons, key=lambda kind: reasons[kind] is not None)
        return f"it {done}, but {left} nothing: {told[0]}"
