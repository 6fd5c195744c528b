"""Hands the tasks of a search to Dask, and its answers back."""
import collections
import json
import queue
import threading
import time
import uuid

from lathe.error import Error
from lathe.workers import machine, security
from lathe.workers.files import Files
from lathe.workers.fitness import Fitness
from lathe.workers.usual import Usual
from lathe.workers.waiting import Waiting

FAILURES = 3  # after which a task is given up
DEATHS = 10  # of workers that had a task, after which it is to blame for more
LIMIT = 600  # seconds for a task
SILENT = 30  # seconds after which a worker that says nothing is taken to hang
LOOK = 1.0  # seconds between two looks at the workers
TRAVEL = 3  # seconds to wait for a short answer: a worker that is alive has sent it by then
PAUSE = 5.0  # seconds before what was disturbed is measured again
BATCH = 0.5  # seconds that a worker is to be busy with the variants of one task
TOGETHER = 0.005  # seconds in which what comes in is taken together: Dask likes many at once
SENT = 2  # tasks that a worker has at a time: one is done while another one travels
# So many workers get variants like those that they had, each its own. More are served together: with
# a hundred that is half as quick again.
FEW = 16

# Tasks that are with Dask: the resource that they need, and for which worker they are, if for one.
Sent = collections.namedtuple("Sent", "tasks resource future worker")


class Task:
    """A task of the search, and what became of it so far."""

    def __init__(self, asked):
        self.id, self.do, self.like = asked.pop("id"), asked["do"], asked.get("kind")
        self.asked, self.reasons, self.not_before, self.deaths = asked, [], 0.0, 0
        self.failed_on = set()  # addresses of workers


class Dispatcher:
    """Places tasks, again where a worker died, hung, or was disturbed.

    ``place`` is where (place.py), ``say`` gets what the search is to hear: answers, warnings.
    A task is ``{"id": 7, "do": "layer" | "network" | "measure", ...}``; variants of layers are sent
    several at a time. Nothing is kept: if this process dies, the search asks again.
    """

    def __init__(self, place, say, search, here, kind="", function=machine.do):
        self._place, self._say = place, say
        self._kind, self._function = kind, function
        self._files = Files(search)
        self._inbox, self._open = queue.SimpleQueue(), {}
        self._waiting = {"scores": Waiting(), "measures": Waiting()}
        self._sent = {}  # by key
        self._able = {"scores": set(), "measures": set()}
        self._alone_since = {"scores": None, "measures": None}
        self._seen, self._silent, self._sending = {}, set(), set()
        self._ready = {}  # futures of workers that were told to get ready, by address
        self._threads, self._seconds = 1, None  # of a worker; for a variant, on a worker
        self._usual = Usual(self._warn)
        self._busy = set()  # hosts that others use, of which the search heard
        self._name, self._count, self._looked = uuid.uuid4().hex[:8], 0, 0.0
        self._client = place.client()
        self._is_over = False
        self._fitness = Fitness(here, kind, say)

    def hear(self, message):
        """Takes a message of the search; from any thread. None: it is over."""
        self._inbox.put(("search", message))

    def run(self):
        """Works until the search is over."""
        try:
            while not self._is_over:
                self._take(self._inbox_now())
                self._look()
                self._send()
        finally:
            _quietly(self._client.close)

    def _warn(self, text):
        self._say({"warning": text})

    # What comes in.

    def _inbox_now(self):
        """Returns what came; waits a moment for it."""
        found = []
        try:
            found.append(self._inbox.get(timeout=0.1))
            time.sleep(TOGETHER)
            while True:
                found.append(self._inbox.get_nowait())
        except queue.Empty:
            return found

    def _take(self, messages):
        ended = []
        for kind, message in messages:
            if kind == "ended":
                ended.append(message)
            elif message is None:
                self._is_over = True
            elif "forget" in message:
                for each in message["forget"]:
                    self._open.pop(each, None)
            else:
                task = Task(message)
                self._open[task.id] = task
                self._wait(task)
        if ended:
            self._gather([key for key in ended if key in self._sent])

    def _wait(self, task):
        self._waiting["measures" if task.do == "measure" else "scores"].add(task)

    def _gather(self, keys):
        """Takes the answers of tasks that ended."""
        done = [key for key in keys if self._sent[key].future.status == "finished"]
        texts = {}
        if done:
            try:
                futures = [self._sent[key].future for key in done]
                found = self._client.sync(self._client._gather, futures, errors="skip",
                                          callback_timeout=SILENT)
                if len(found) == len(done):
                    texts = dict(zip(done, found))
            except Exception:  # whoever had them died: they are asked for again
                texts = {}
        for key in keys:
            tasks, _, future, _ = self._sent.pop(key)
            if key in texts:
                self._answered(tasks, json.loads(texts[key]))
            elif future.status == "error":
                self._failed(tasks, security.why(future.exception()))
            else:  # the scheduler or the worker is gone, and with it what they knew
                for task in tasks:
                    self._wait(task)

    def _answered(self, tasks, answer):
        if "needs" in answer:
            if answer["worker"] in self._fitness.unfit:
                for able in self._able.values():
                    able.discard(answer["worker"])
            else:
                self._send_files(answer["worker"])
            for task in tasks:
                self._wait(task)
            return
        if "busy" in answer:
            self._put_off(tasks, answer)
            return
        if "failed" in answer:
            self._failed(tasks, f"{answer['host']}: {answer['failed']}", answer["worker"])
            return
        results = [answer["result"]]
        if tasks[0].do == "layer":
            results = answer["result"]["changes"]
            each = answer["seconds"] / len(tasks)
            self._seconds = each if self._seconds is None else (self._seconds + each) / 2
        for task, result in zip(tasks, results):
            if task.do == "measure" and not self._is_trusted(task, answer, result):
                continue
            if self._open.pop(task.id, None):
                self._say({"id": task.id, "result": result})

    def _put_off(self, tasks, answer):
        """Measures later what a machine could not measure that others use: that is no failure."""
        host = answer["host"]
        if host not in self._busy:
            self._warn(f"{host}: {answer['busy']}; it measures as soon as it is idle")
            self._busy.add(host)
        for task in tasks:
            task.not_before = time.monotonic() + PAUSE
            self._wait(task)

    def _is_trusted(self, task, answer, result):
        """Was the machine as quick as usual? If not, the task waits again."""
        own, host = result.get("own"), answer["host"]
        self._busy.discard(host)
        if not own or self._usual.is_trusted(host, own):
            return True
        # Not the task's fault: it is measured again, on another machine if there is one.
        task.failed_on.add(answer["worker"])
        task.not_before = time.monotonic() + PAUSE
        self._wait(task)
        return False

    def _failed(self, tasks, reason, worker=None):
        for task in tasks:
            if task.id not in self._open:
                continue
            task.reasons.append(reason)
            task.failed_on.add(worker)
            if len(task.reasons) < FAILURES:
                self._wait(task)
            else:
                del self._open[task.id]
                reasons = "; ".join(dict.fromkeys(task.reasons))
                self._say({"id": task.id, "failed": f"it failed {FAILURES} times: {reasons}"})

    def _send_files(self, worker):
        if worker in self._sending:
            return
        self._sending.add(worker)
        future = self._client.submit(machine.keep, self._files.name, self._files.archive,
                                     workers=[worker], pure=False, key=self._next_key("files"))

        def kept(future):  # all of Dask's callbacks wait for this one
            try:
                if future.status == "finished" and (reason := future.result(timeout=TRAVEL)):
                    self._fitness.unfit[worker] = reason
            except Exception:  # the worker died before it could tell
                pass
            self._sending.discard(worker)
        future.add_done_callback(kept)

    def _get_ready(self):
        """Has workers load what every score needs, while the search itself begins. Nobody waits for
        that, and whoever fails in it fails again at a task."""
        about = self._fitness.about_here()
        text = json.dumps({"task": {"search": self._files.search, "do": "ready"},
                           "files": self._files.name, "limit": LIMIT})
        for worker in self._able["scores"] - self._ready.keys():
            try:
                if self._files.name:
                    self._send_files(worker)
                self._ready[worker] = self._client.submit(
                    self._function, text, workers=[worker], pure=False,
                    key=self._next_key("ready"), resources={machine.scores(about): 1})
            except Exception:  # the scheduler is gone: _look() says so
                return

    # Who is there.

    def _look(self):
        now = time.monotonic()
        if now < self._looked:
            return
        try:
            if self._client.status != "running":
                raise OSError("the connection was closed")
            workers = self._client.sync(self._client.scheduler.identity, n_workers=-1,
                                        callback_timeout=SILENT)["workers"]
        except (OSError, TimeoutError, AttributeError, RuntimeError) as error:
            self._connect_again(error)
            return
        self._looked = time.monotonic() + max(LOOK, 10 * (time.monotonic() - now))
        self._silent = {address for address, each in workers.items()
                        if self._is_silent(address, each, now)}
        able = {"scores": set(), "measures": set()}
        for address, each in workers.items():
            about = machine.about_in(each["resources"])
            reasons = self._fitness.reasons(address, about)
            self._fitness.tell_of(address, about, reasons)
            for kind, reason in reasons.items():
                if not reason and address not in self._silent:
                    able[kind].add(address)
            if not reasons["scores"]:
                self._threads = max(self._threads, about["threads"])
        self._able = able
        self._take_from_dead(workers)
        if self._silent:
            try:
                self._take_from_silent()
            except (OSError, TimeoutError, RuntimeError) as error:
                self._connect_again(error)
        self._check_somebody_is_there(workers)
        self._get_ready()

    def _is_silent(self, address, worker, now):
        last, since = self._seen.get(address, (None, now))
        if worker["last_seen"] != last:
            since = now
        self._seen[address] = (worker["last_seen"], since)
        return now - since > SILENT

    def _check_somebody_is_there(self, workers):
        now = time.monotonic()
        for kind, waiting in self._waiting.items():
            is_wanted = bool(waiting) or (kind == "measures" and self._fitness.machine is None)
            is_alone = is_wanted and not self._able[kind]
            if not is_alone:
                self._alone_since[kind] = None
                continue
            self._alone_since[kind] = self._alone_since[kind] or now
            if now - self._alone_since[kind] > self._place.patience:
                reasons = {self._fitness.reasons(address, machine.about_in(each["resources"]))[kind]
                           for address, each in workers.items()} - {None}
                told = "; ".join(sorted(reasons)) or "'lathe worker' starts one"
                raise Error(f"no worker at {self._place.address} {kind} for this search, for "
                            f"{self._place.patience} s: {told}")

    def _take_from_dead(self, workers):
        """Places again what was for workers that are gone: nobody else would do it."""
        for key, sent in list(self._sent.items()):
            if sent.worker is None or sent.worker in workers:
                continue
            del self._sent[key]
            for task in sent.tasks:
                task.deaths += 1
                if task.deaths <= DEATHS:
                    self._wait(task)
                else:
                    self._failed([task], f"the worker at {sent.worker} died", sent.worker)

    def _take_from_silent(self):
        """Places what workers have that say nothing anywhere else."""
        having = self._client.processing(workers=list(self._silent))
        for address, keys in having.items():
            for key in keys:
                if str(key) in self._sent:
                    sent = self._sent.pop(str(key))
                    sent.future.cancel(force=True)
                    self._failed(sent.tasks, f"the worker at {address} does not answer", address)

    def _connect_again(self, error):
        """Waits for a scheduler that is gone, and begins again: no worker has a task of ours."""
        self._warn(f"the scheduler at {self._place.address} is gone ({security.why(error)}); "
                   "waiting for it")
        _quietly(self._client.close)
        end = time.monotonic() + self._place.patience
        while True:
            try:
                self._client = self._place.client()
                break
            except Error:
                if time.monotonic() > end:
                    raise Error(f"the scheduler at {self._place.address} has been gone for "
                                f"{self._place.patience} s: the same command goes on") from None
                time.sleep(LOOK)
        for sent in self._sent.values():
            for task in sent.tasks:
                self._wait(task)
        self._sent, self._sending, self._seen, self._ready = {}, set(), {}, {}

    # What goes out.

    def _send(self):
        if len(self._able["scores"]) <= FEW:
            self._send_alike()
        else:
            self._send_together("scores", SENT)
        self._send_together("measures", 1)

    def _send_alike(self):
        """Sends each worker variants like those that it had."""
        able = self._able["scores"]
        having = collections.Counter(sent.worker for sent in self._sent.values())
        for worker in sorted(able, key=lambda each: having[each]):
            for _ in range(SENT - having[worker]):
                tasks = self._next("scores", worker)
                if not tasks:
                    break
                self._submit("scores", [tasks], worker, workers=[worker])

    def _send_together(self, kind, most):
        """Sends so many tasks for each worker; Dask chooses which one."""
        sent = sum(1 for each in self._sent.values() if each.resource == kind)
        room, together = len(self._able[kind]) * most - sent, []
        while room > 0 and (tasks := self._next(kind)):
            room -= 1
            # Not where it failed before, or where nobody answers, if there are others.
            others = self._able[kind] - tasks[0].failed_on
            if others and (self._silent or self._fitness.unfit or tasks[0].failed_on):
                self._submit(kind, [tasks], workers=sorted(others))
            else:
                together.append(tasks)
        if together:
            self._submit(kind, together)

    def _next(self, kind, worker=None):
        """Returns the tasks that go together: variants of layers, or a single task."""
        now, able = time.monotonic(), self._able[kind]

        def state(task):
            if task.id not in self._open:
                return "never"
            is_elsewhere = worker in task.failed_on and able - task.failed_on
            return "later" if task.not_before > now or is_elsewhere else "now"
        most = self._batch() if kind == "scores" else 1
        return self._waiting[kind].next(most, state, worker, able - {worker})

    def _batch(self):
        """Returns how many variants go together: enough to keep a worker busy for a moment, and
        few enough that all workers get some."""
        busy = self._threads
        if self._seconds:
            busy = max(busy, int(BATCH / self._seconds))
        share = len(self._waiting["scores"]) // (2 * max(1, len(self._able["scores"])))
        return max(1, min(busy, max(self._threads, share)))

    def _submit(self, kind, groups, worker=None, **only):
        """Sends tasks, each group of which goes to one worker; to this one, if one is named."""
        about = self._fitness.about_here()
        resource = (machine.scores(about) if kind == "scores"
                    else machine.measures(about, self._kind))
        keys = [self._next_key(tasks[0].do) for tasks in groups]
        try:
            futures = self._client.map(self._function, list(map(self._text, groups)), key=keys,
                                       pure=False, resources={resource: 1}, **only)
        except Exception:  # the scheduler is gone: _look() says so
            for tasks in groups:
                for task in tasks:
                    self._wait(task)
            self._looked = 0.0
            return
        for key, tasks, future in zip(keys, groups, futures):
            self._sent[key] = Sent(tasks, kind, future, worker)
            future.add_done_callback(lambda _, key=key: self._inbox.put(("ended", key)))

    def _text(self, tasks):
        """Returns what a worker is told to do."""
        body = {"search": self._files.search, **tasks[0].asked}
        if tasks[0].do == "layer":
            body = {"search": self._files.search, "do": "layers",
                    "layers": [task.asked for task in tasks]}
        return json.dumps({"task": body, "files": self._files.name, "limit": LIMIT})

    def _next_key(self, what):
        self._count += 1
        return f"lathe-{what}-{self._name}-{self._count}"


def listen(dispatcher, lines):
    """Lets a dispatcher hear lines of JSON, in a thread of its own."""
    def read():
        for line in lines:
            dispatcher.hear(json.loads(line))
        dispatcher.hear(None)
    thread = threading.Thread(target=read, name="lathe-search", daemon=True)
    thread.start()
    return thread


def _quietly(work):
    try:
        work()
    except Exception:  # it is gone already
        pass
