#!/usr/bin/python3
"""What the dispatcher of a search on many machines does with machines that die, hang, lie, are slow
or busy, or of another version. The machines are simulated.

Usage: tests/placing.py [PYTHON]

PYTHON has Dask's distributed and NumPy, unless this one has. Exit status 77 (skipped) where neither
does.
"""
import collections
import doctest
import queue
import sys
import threading
import time
import warnings

import machines

if __name__ == "__main__":
    machines.need_dask(*sys.argv[1:2] or [""])
sys.path.insert(0, str(machines.ROOT / "python"))
from lathe.error import Error
from lathe.workers import dispatcher, machine, security, simulate, usual


class Placed:
    """A dispatcher with simulated machines, and what it says."""

    def __init__(self, *engines, kind=""):
        self.said, left = queue.SimpleQueue(), list(engines)
        self.place = simulate.Place(len(engines), lambda threads: left.pop(0)())
        self.place.patience = 3
        machine.PATIENCE, dispatcher.PAUSE = 1, 0.05
        search = {"network": {"network": "", "apply": []}, "data": "synthetic:0"}
        self.dispatcher = dispatcher.Dispatcher(self.place, self.said.put, search, simulate.ABOUT,
                                                kind)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            self.dispatcher.run()
        except Exception as error:
            self.said.put({"error": str(error)})

    def all(self, tasks):
        """Returns the answers to tasks by id, and all else that was said."""
        for task in tasks:
            self.dispatcher.hear(dict(task))
        answers, others = {}, []
        while len(answers) < len(tasks):
            said = self.said.get(timeout=60)
            if "id" in said:
                answers[said["id"]] = said
            elif "machine" in said:
                self.machine = said["machine"]
            else:
                others.append(next(iter(said.values())))
            if "error" in said:
                break
        self.dispatcher.hear(None)
        self.thread.join()
        self.place.close()
        return answers, others


def engine(about=None, fault=None):
    """Returns what makes an engine that is another machine, or does something wrong."""
    class Engine(simulate.Sleeper):
        asked = 0

        def __init__(self):
            super().__init__(1)
            self.about.update(about or {})

        def ask(self, task, limit):
            Engine.asked += 1
            result = super().ask(task, limit)
            return fault(Engine.asked, task, result) if fault else result
    return Engine


def breaks(n, task, result):
    raise Error("the process that did it ended (killed by signal 9)")


def sometimes(n, task, result):
    return breaks(n, task, result) if n % 3 == 2 else result


def times(answers):
    return {id: answer["result"]["time"] for id, answer in answers.items()}


TASKS = simulate.tasks_of(12, "measures", 0.01)
EXPECTED = {task["id"]: task["time"] for task in TASKS}


def test_that_breaks():
    answers, others = Placed(engine(), engine(fault=sometimes)).all(TASKS)
    assert times(answers) == EXPECTED and not others, (answers, others)
    answers, others = Placed(engine(fault=breaks)).all(TASKS[:2])
    assert all(each["failed"].startswith("it failed 3 times") for each in answers.values())
    print(answers[1]["failed"])


def test_slow_for_a_while():
    def slow(n, task, result):
        return {**result, "own": 1.3, "time": 1.3 * result["time"]} if 5 < n < 9 else result
    answers, others = Placed(engine(fault=slow)).all(TASKS)
    assert times(answers) == EXPECTED, answers
    assert "30% slower than usual" in others[0], others
    print(others[0])


def test_slow_for_long_and_for_good():
    for last, usual.SLOW, told in ((20, 60, 1), (10**6, 1, 2)):
        def slow(n, task, result, last=last):
            is_slow = 5 < n < last and task["do"] == "measure"
            return {**result, "own": 1.3} if is_slow else result
        answers, others = Placed(engine(fault=slow)).all(TASKS)
        assert times(answers) == EXPECTED and len(others) == told, (answers, others)
    assert "from now on 1300.000 ms is usual" in others[-1], others
    print(others[-1])


def test_busy_for_longer_than_a_worker_waits():
    begin, look = time.monotonic(), machine._busy
    machine._busy = lambda: 2.0 if time.monotonic() < begin + 3.5 else 0.0
    answers, others = Placed(engine()).all(TASKS)
    machine._busy = look
    assert times(answers) == EXPECTED and len(others) == 1, (answers, others)
    assert "it measures as soon as it is idle" in others[0], others
    print(others[0])


def test_strangers():
    strangers = [({"version": "9"}, "it has Lathe 9, and this search 0"),
                 ({"architecture": "other"}, "its scores would have other bits"),
                 ({"machine": "other"}, "it scores, but measures nothing: it is other")]
    for about, told in strangers:
        answers, others = Placed(engine(), engine(about)).all(TASKS)
        assert times(answers) == EXPECTED, answers
        assert any(told in other for other in others), others
        print(others[0])
    answers, others = Placed(engine({"version": "9"})).all(TASKS[:1])
    assert not answers and "no worker" in others[-1], others
    print(others[-1])


def test_named_kinds():
    for other in ("rack", "shelf"):  # another machine of the name, and one of another name
        answers, others = Placed(engine({"kind": "rack"}),
                                 engine({"kind": other, "machine": "other"}),
                                 kind="rack").all(TASKS)
        assert len(others) == (other == "rack"), others
    fast = engine({"machine": "fast", "kind": "rack"},
                  lambda n, task, result: {**result, "own": 0.5})
    placed = Placed(engine(), fast, engine({"kind": "rack"}), kind="rack")
    answers, others = placed.all(TASKS)
    owns = {answer["result"]["own"] for answer in answers.values()}
    assert len(owns) == 1 and times(answers) == EXPECTED, answers
    assert placed.machine["machine"] == ("fast" if owns == {0.5} else "simulated"), placed.machine
    assert any("and times are of " + placed.machine["machine"] in other for other in others), others


def test_scores():
    scores = simulate.tasks_of(200, "scores", 0.001)
    for engines in ([engine()], [engine({"machine": "other"})] * 8):
        answers, _ = Placed(*engines).all(scores)
        found = {id: answer["result"]["scores"][0] for id, answer in answers.items()}
        assert found == {task["id"]: task["score"] for task in scores}


def test_alike():
    """What is alike goes to one machine, until none of it waits."""
    had = [collections.Counter(), collections.Counter()]

    def noting(counter):
        def note(n, task, result):
            counter.update(layer["kind"] for layer in task.get("layers", []))
            return result
        return engine(fault=note)
    alike = simulate.tasks_of(240, "scores", 0.01, kinds=6)
    answers, _ = Placed(*map(noting, had)).all(alike)
    assert len(answers) == sum(map(sum, (each.values() for each in had))) == len(alike)
    apart = sum(min(each[kind] for each in had) for kind in range(6))
    assert apart < len(alike) // 4, had
    print(f"variants scored by 2 machines: {had[0].total()} and {had[1].total()}; not where most "
          f"of their kind were: {apart}")


def main():
    warnings.simplefilter("ignore")  # of Dask, about ports
    assert not any(doctest.testmod(module).failed for module in (machine, security))
    test_that_breaks()
    test_slow_for_a_while()
    test_slow_for_long_and_for_good()
    test_busy_for_longer_than_a_worker_waits()
    test_strangers()
    test_named_kinds()
    test_scores()
    test_alike()


if __name__ == "__main__":
    main()
