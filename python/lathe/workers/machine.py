"""A worker of Dask that does tasks of Lathe's searches, one at a time."""
import contextlib
import fcntl
import json
import os
import tempfile
import time

import dask
from distributed import Worker, get_worker

from lathe.error import Error
from lathe.workers.engine import Engine
from lathe.workers.files import KeptFiles

SCORES, MEASURES, ABOUT = "lathe scores ", "lathe measures ", "lathe about "
PATIENCE = 30  # seconds that a measurement waits until the machine is idle
PAUSE = 1  # seconds between two looks at a machine that is not
TURN = 300  # seconds that a worker waits for others of its machine
LOOK = 0.2  # seconds for which the machine is looked at
# Dask looks at itself up to a hundred times a second, which is work on a machine that measures or
# that has no processor to spare. Who wants that can say so in Dask's own configuration.
dask.config.update_defaults({"distributed": {
    "admin": {"tick": {"interval": "500ms"},
              "system-monitor": {"interval": "5s", "gil": {"enabled": False}}},
    "scheduler": {"active-memory-manager": {"start": False}},
    "worker": {"profile": {"enabled": False}, "memory": {"monitor-interval": "5s"}}}})


class Busy(Error):
    """Other programs use the machine."""


class LatheWorker(Worker):
    """A worker that says what its machine is, and does one task at a time.

    Dask tells everybody the names of a worker's resources. So one of them says what the machine is,
    and tasks ask for those that a machine must be of: one for scores, one for times. ``kind`` is
    the name of machines that take equally long. ``idle`` is how much of the machine others may
    use while it measures, 1 for all of it.
    """

    def __init__(self, *args, threads=0, kind="", idle=0.5, resources=None, **options):
        self.engine = self.new_engine(int(threads))
        self.kept, self.idle = KeptFiles(), float(idle)
        self.told = {"kind": kind, "host": os.uname().nodename, **self.engine.about}
        resources = {**(resources or {}), ABOUT + json.dumps(self.told): 1,
                     scores(self.told): 1, measures(self.told): 1,
                     measures(self.told, self.told["kind"]): 1}
        super().__init__(*args, **{**options, "nthreads": 1, "resources": resources})

    @staticmethod
    def new_engine(threads):
        """Returns what does the tasks. Simulations have another one."""
        return Engine(threads)

    async def close(self, *args, **options):
        self.engine.close()
        self.kept.close()
        return await super().close(*args, **options)


def scores(about):
    """Returns the resource that tasks need that score: the same program on the same architecture
    computes the same bits."""
    return f"{SCORES}{about['version']} {about['architecture']}"


def measures(about, kind=""):
    """Returns the resource that tasks need that measure: the same machine, perhaps of a name."""
    return f"{MEASURES}{about['version']} {about['machine']}" + (f", {kind}" if kind else "")


def about_in(resources):
    """Returns what a worker says of its machine; None if it is none of Lathe's.

    >>> about_in({"GPU": 1}) is None
    True
    """
    for name in resources:
        if name.startswith(ABOUT):
            return json.loads(name[len(ABOUT):])
    return None


def do(text):
    """Does a task on the worker that runs this: ``{"task": ..., "files": ..., "limit": ...}``.

    Returns JSON: ``result``, or ``failed`` with the reason, or ``busy``: others use the machine, or
    ``needs``: the files of the search are not here. ``worker`` says who it was.
    """
    worker, asked = get_worker(), json.loads(text)
    answer = {"worker": worker.address, "host": worker.told["host"]}
    if not worker.kept.has(asked["files"]):
        return json.dumps({**answer, "needs": asked["files"]})
    try:
        task = json.loads(worker.kept.placed(json.dumps(asked["task"]), asked["files"]))
        is_timed = task["do"] == "measure"
        with _idle_machine(worker.idle) if is_timed else _machine(False):
            begin = time.monotonic()
            answer["result"] = worker.engine.ask(task, asked["limit"])
            answer["seconds"] = time.monotonic() - begin
        if isinstance(answer["result"], dict) and "failed" in answer["result"]:
            answer["failed"] = answer.pop("result")["failed"]
    except Busy as error:
        answer["busy"] = str(error)
    except Error as error:
        answer["failed"] = str(error)
    return json.dumps(answer)


def keep(name, archive):
    """Keeps the files of a search on the worker that runs this; returns why not, or ""."""
    try:
        get_worker().kept.keep(name, archive)
        return ""
    except Error as error:
        return str(error)


@contextlib.contextmanager
def _machine(is_timed):
    """Holds the machine: all of it for a measurement, together with others for scores. Workers
    beside this one, of this search or another, wait meanwhile."""
    path = os.path.join(tempfile.gettempdir(), f"lathe-machine-{os.getuid()}.lock")
    how, end = fcntl.LOCK_EX if is_timed else fcntl.LOCK_SH, time.monotonic() + TURN
    with open(path, "a") as file:
        while True:
            try:
                fcntl.flock(file, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise Error(f"another worker of this machine has had it for {TURN} s") from None
                time.sleep(0.02)
        yield


@contextlib.contextmanager
def _idle_machine(idle):
    """Holds a machine that nobody else uses much. While others do, the workers beside this one go
    on."""
    end = time.monotonic() + PATIENCE
    while True:
        with _machine(True):
            busy = _busy()
            if busy <= idle:
                yield
                return
        if time.monotonic() > end:
            raise Busy(f"the machine is not idle: {busy:.0%} of its processors are in use")
        time.sleep(PAUSE)


def _busy():
    """Returns how much of the processors is in use now, from 0 to 1."""
    before = _ticks()
    time.sleep(LOOK)
    used, every = (now - then for now, then in zip(_ticks(), before))
    return used / every if every else 0


def _ticks():
    with open("/proc/stat") as file:
        ticks = list(map(int, file.readline().split()[1:9]))
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
