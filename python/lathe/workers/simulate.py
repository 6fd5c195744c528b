"""Simulates searches on many machines: ``python -m lathe.workers.simulate``.

What a search asks for, the dispatcher, Dask's scheduler and its workers are real. Only the work is
not: it sleeps for as long as it would take. So what is seen is the cost of giving out work. Workers
are in this process, or in a few others; they share a machine with the scheduler, which they would
not elsewhere.
"""
import argparse
import asyncio
import json
import logging
import math
import queue
import random
import subprocess
import sys
import threading
import time

# What each worker does for itself, on a machine of its own: here it would take all the time.
ASIDE = {"distributed.admin.tick.interval": "10s", "distributed.worker.profile.enabled": False,
         "distributed.admin.system-monitor.interval": "60s",
         "distributed.admin.system-monitor.gil.enabled": False}
ABOUT = {"version": "0", "architecture": "simulated", "machine": "simulated"}


class Sleeper:
    """Does what lathe tasks would do, in its sleep."""

    def __init__(self, threads):
        self.about = {**ABOUT, "threads": threads}

    def ask(self, task, limit):
        """Returns an answer to a task, after the seconds that its work takes."""
        if task["do"] == "layers":
            time.sleep(sum(layer["seconds"] for layer in task["layers"]))
            return {"changes": [{"scores": [layer["score"]], "gain": 1}
                                for layer in task["layers"]]}
        if task["do"] == "ready":
            return {}
        time.sleep(task["seconds"])
        return {"own": 1.0, "time": task["time"]}

    def close(self):
        """There is nothing to end."""


def sleeping(text):
    """Does a task on a simulated worker: nobody waits for an idle machine."""
    from distributed import get_worker
    worker, task = get_worker(), json.loads(text)["task"]
    begin = time.monotonic()
    result = worker.engine.ask(task, 0)
    return json.dumps({"worker": worker.address, "host": worker.address, "result": result,
                       "seconds": time.monotonic() - begin})


def simulated(engine):
    """Returns the class of workers that such an engine works for."""
    from lathe.workers.machine import LatheWorker

    class SimulatedWorker(LatheWorker):
        """A worker that sleeps."""

        @staticmethod
        def new_engine(threads):
            return engine(1)
    return SimulatedWorker


class Place:
    """A scheduler and so many workers, in this process or in others. ``engine`` makes what does
    their work."""

    address, patience = "simulation", 60

    def __init__(self, count, engine=Sleeper, processes=0):
        from distributed import LocalCluster
        own = 0 if processes else count
        where = {"processes": False}
        if processes:
            where = {"host": "127.0.0.1", "protocol": "tcp://"}
        self.cluster = LocalCluster(n_workers=own, threads_per_worker=1,
                                    worker_class=simulated(engine), dashboard_address=None,
                                    memory_limit=0, idle=1, silence_logs=logging.CRITICAL, **where)
        self._others = [subprocess.Popen([sys.executable, "-m", "lathe.workers.simulate", "--join",
                                          self.cluster.scheduler_address, "--workers",
                                          str(count // processes)])
                        for _ in range(processes)]

    def client(self):
        """Returns a client of Dask."""
        from distributed import Client
        return Client(self.cluster, timeout=300, set_as_default=False)

    def close(self):
        """Ends it."""
        for process in self._others:
            process.kill()
            process.wait()
        self.cluster.close()


async def join(address, count):
    """Works for a scheduler, as so many workers."""
    workers = [simulated(Sleeper)(address, idle=1, memory_limit=0, silence_logs=logging.CRITICAL)
               for _ in range(count)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


def tasks_of(count, what, seconds, seed=1, kinds=9):
    """Returns the tasks of a search: each has its answer in it, so the winner is known. Variants
    are of so many kinds of layers."""
    draw = random.Random(seed)
    tasks = []
    for i in range(count):
        task = {"id": i + 1, "do": "layer" if what == "scores" else "measure",
                "seconds": seconds * draw.uniform(0.5, 1.5)}
        task["score" if what == "scores" else "time"] = draw.random()
        if what == "scores":
            task["kind"] = i * kinds // count
        tasks.append(task)
    return tasks


def simulate(workers, count, what, seconds, processes=0):
    """Simulates a search; returns what came of it."""
    from lathe.workers.dispatcher import Dispatcher
    begin = time.monotonic()
    place, answers = Place(workers, processes=processes), queue.SimpleQueue()
    search = {"network": {"network": "", "apply": []}, "data": "synthetic:0"}
    dispatcher = Dispatcher(place, answers.put, search, ABOUT, function=sleeping)
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    client = place.client()
    client.wait_for_workers(workers)
    client.close()
    started, tasks, best = time.monotonic(), tasks_of(count, what, seconds), (math.inf, 0)
    for task in tasks:
        dispatcher.hear(dict(task))
    for _ in tasks:
        answer = answers.get()
        while "id" not in answer:
            answer = answers.get()
        result = answer["result"]
        value = result["scores"][0] if what == "scores" else result["time"]
        best = min(best, (value, answer["id"]))
    taken, work = time.monotonic() - started, sum(task["seconds"] for task in tasks)
    dispatcher.hear(None)
    thread.join()
    place.close()
    ideal = max(work / workers, max(task["seconds"] for task in tasks))
    return {"what": what, "workers": workers, "tasks": count, "seconds": seconds, "taken": taken,
            "ideal": ideal, "a_second": count / taken, "overhead_ms": (taken - ideal) / count * 1e3,
            "efficiency": ideal / taken, "winner": best[1], "start": started - begin}


def main(words):
    """Prints a line of JSON for each simulated search."""
    parser = argparse.ArgumentParser(prog="python -m lathe.workers.simulate",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--tasks", type=int, help="how many there are; unless told, 20 for each "
                                                  "worker, 200 at least")
    parser.add_argument("--seconds", type=float, default=2.5, help="that a measurement takes")
    parser.add_argument("--score", type=float, default=0.05, help="that a variant's score takes")
    parser.add_argument("--what", choices=["measures", "scores", "both"], default="both")
    parser.add_argument("--processes", type=int, default=0,
                        help="beside this one, in which the workers are")
    parser.add_argument("--join", metavar="ADDRESS", help="be the workers of another simulation")
    given = parser.parse_args(words)
    import dask
    dask.config.set(ASIDE)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if given.join:
        asyncio.run(join(given.join, given.workers[0]))
        return
    kinds = ["scores", "measures"] if given.what == "both" else [given.what]
    for what in kinds:
        for workers in given.workers:
            seconds = given.seconds if what == "measures" else given.score
            count = given.tasks or max(20 * workers, 200 if what == "scores" else 20)
            print(json.dumps(simulate(workers, count, what, seconds, given.processes)),
                  flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
