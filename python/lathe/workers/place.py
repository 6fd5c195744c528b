"""Where the work is done: an address, or a cluster that Dask starts."""
import logging

from distributed import Client, LocalCluster

from lathe.error import Error
from lathe.workers import security
from lathe.workers.machine import LatheWorker

REACH = 10  # seconds in which a scheduler must answer


class Place:
    """A scheduler, reached or started: ``Place("local:2", given).client()``.

    ``patience`` is for how many seconds a search waits for workers, and for a scheduler that is
    gone. ``given`` are the words of the command line.
    """

    def __init__(self, address, given):
        self.address, self._given = address, given
        self.patience, self.is_own = 60, True
        kind, _, rest = address.partition(":")
        self._security = security.security(given)
        if kind == "local":
            self._cluster = self._local(rest)
        elif kind == "ssh":
            self._cluster = self._ssh(rest)
        elif kind == "slurm":
            self._cluster, self.patience = self._slurm(rest), 24 * 3600
        elif kind in ("tcp", "tls"):
            security.check_address(address, given)
            self._cluster, self.is_own = None, False
        else:
            raise Error(f"--workers '{address}': write tcp://HOST:PORT, tls://HOST:PORT, "
                        "local:PROCESSES, ssh:FILE or slurm:JOBS")

    def client(self):
        """Returns a client of Dask. Fails, and says why, if the scheduler cannot be reached."""
        try:
            return Client(self._cluster or self.address, security=self._security, timeout=REACH,
                          set_as_default=False)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise Error(f"the scheduler at {self.address} cannot be reached: "
                        f"{security.why(error)}") from None

    def close(self):
        """Ends what was started here."""
        if self._cluster is not None:
            self._cluster.close()

    def _local(self, text):
        count = _number(text, "local:PROCESSES")
        # Each has a processor; their work is done by processes of their own (engine.py).
        return LocalCluster(n_workers=count, threads_per_worker=1, processes=False,
                            worker_class=LatheWorker, threads=1, idle=1,
                            dashboard_address=None, memory_limit=0, silence_logs=logging.CRITICAL)

    def _ssh(self, path):
        try:
            with open(path) as file:
                hosts = [line.split("#")[0].strip() for line in file]
        except OSError as error:
            raise Error(f"--workers ssh:{path}: {error.strerror}") from None
        hosts = [host for host in hosts if host]
        if not hosts:
            raise Error(f"--workers ssh:{path}: it names no host; write one a line")
        security.check_encrypted(self._given, "a cluster over ssh is open to its network")
        from distributed import SSHCluster
        try:
            # The scheduler is on the first of them.
            return SSHCluster([hosts[0], *hosts], worker_class=f"{LatheWorker.__module__}."
                              f"{LatheWorker.__name__}", security=self._security,
                              scheduler_options={"dashboard": False})
        except (ImportError, OSError, RuntimeError) as error:
            raise Error(f"--workers ssh:{path}: {security.why(error)}") from None

    def _slurm(self, text):
        count = _number(text, "slurm:JOBS")
        security.check_encrypted(self._given, "a cluster of Slurm is open to its network")
        try:
            from dask_jobqueue import SLURMCluster
        except ImportError:
            raise Error("--workers slurm: needs dask-jobqueue: pip install dask-jobqueue") from None
        try:
            is_open = not self._security.require_encryption
            cluster = SLURMCluster(worker_command="lathe.workers.worker", processes=1,
                                   security=None if is_open else self._security,
                                   worker_extra_args=_words(self._given),
                                   scheduler_options={"dashboard": False})
        except (ValueError, OSError, RuntimeError) as error:
            raise Error(f"--workers slurm: {security.why(error)}; queue, cores and memory are set "
                        "in ~/.config/dask/jobqueue.yaml") from None
        cluster.scale(jobs=count)
        return cluster


def _number(text, form):
    if not text.isdigit() or int(text) < 1:
        raise Error(f"--workers: write {form} with a number above 0, like {form.split(':')[0]}:2")
    return int(text)


def _words(given):
    """Returns what the workers of a cluster are told beside who gives out the work."""
    return (["--insecure"] if given.insecure else []) + ["--once"]
