"""What the original takes on machines that measure."""
import collections
import statistics
import time

DRIFT = 0.25  # how much longer the original may take than usual
USUAL = 15  # the times of the original that tell what is usual
FEWEST = 3  # of which there must be so many
SLOW = 300  # seconds after which a machine that got slower is taken as it is


class Usual:
    """Tells measurements that were disturbed: the original, measured with them, was slow.

    ``warn`` gets what the user is to hear of it.
    """

    def __init__(self, warn):
        self._warn = warn
        self._times = collections.deque(maxlen=USUAL)
        self._disturbed = {}  # since when, by host

    def is_trusted(self, host, own):
        """Did the original take as long as it usually does? What is much slower was disturbed."""
        usual = statistics.median(self._times) if len(self._times) >= FEWEST else None
        if usual is None or own <= usual * (1 + DRIFT):
            # It is never faster by luck: then what came before was disturbed.
            if usual is not None and own < usual / (1 + DRIFT):
                self._times.clear()
            self._times.append(own)
            self._disturbed.pop(host, None)
            return True
        now = time.monotonic()
        if host not in self._disturbed:
            self._warn(f"{host} was {own / usual - 1:.0%} slower than usual: the original took "
                       f"{own * 1e3:.3f} ms, and else {usual * 1e3:.3f} ms; such times are "
                       "discarded")
            self._disturbed[host] = now
        if now - self._disturbed[host] <= SLOW:
            return False
        self._warn(f"{host} has been slower than usual for {SLOW} s: from now on "
                   f"{own * 1e3:.3f} ms is usual")
        self._times.clear()
        self._times.append(own)
        del self._disturbed[host]
        return True
