#!/usr/bin/python3
"""Searches on many machines, which are processes of this one.

Usage: tests/machines.py LATHE same|kills|fleet|errors [PYTHON]

same     The same tables lead to the same winner, and scores have the same bits, here and with
         1 and 3 workers.
kills    20 kills of workers and 5 of the scheduler: no trial is lost, none fails, and the winner is
         that of a search that nobody disturbed.
fleet    A winner for each of two kinds of machines: what layers score is found out once, and what
         cannot be tuned is not.
errors   A wrong address, an open one, a certificate that expired, a full disk on a worker, a
         worker that is none: each is told in a line.

PYTHON has Dask's distributed and NumPy, unless this one has. Exit status 77 (skipped) where neither
does.
"""
import importlib.util
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings

SKIPPED = 77
KILLS, KILLS_OF_SCHEDULERS = 20, 5
ROOT = pathlib.Path(__file__).resolve().parents[1]
NETWORK = ROOT / "tests" / "killed_network.graph"
OPTIONS = ["--families", "expanded", "--variants", "3", "--exact", "1", "--samples", "2",
           "--seeds", "1", "--rule", "paper", "--tune", "0", "--no-blocks"]


def environment(lathe, **more):
    """Returns what programs of the package need to find each other without a wheel."""
    return {**os.environ, "LATHE_TUNED": "", "LATHE_PROGRAM": str(lathe),
            "LATHE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "python"),
            "LATHE_LIBRARY": str(pathlib.Path(lathe).parent / "liblathe.so"), **more}


def command(lathe, folder, *words):
    return [str(lathe), "optimize", str(NETWORK), *OPTIONS, "--work-dir", str(folder), *words]


def search(lathe, folder, *words, **more):
    """Searches to the end; returns what it printed."""
    result = subprocess.run(command(lathe, folder, *words), capture_output=True, text=True,
                            env=environment(lathe, **more), timeout=300)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout + result.stderr


def table(folder, query):
    database = sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True)
    rows = database.execute(query).fetchall()
    database.close()
    return rows


def trials(folder):
    """Returns what was tried: by subject and recipe, what came of it."""
    if not (folder / "journal.db").exists():
        return {}
    return {row[:2]: row[2:] for row in
            table(folder, "SELECT subject, recipe, outcome, reason, time, own FROM trials")}


def numbers(folder):
    return dict(table(folder, "SELECT name, value FROM numbers"))


def winner(folder):
    return json.loads((folder / "bundle" / "winner.recipe").read_text())["layers"]


def begin_anew(folder, other):
    """Copies the times of layers of a search, and nothing else that it found out."""
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns(other.name))
    shutil.rmtree(other / "bundle")
    database = sqlite3.connect(other / "journal.db")
    database.execute("DELETE FROM trials WHERE subject = 'network'")
    database.execute("DELETE FROM numbers WHERE name NOT LIKE 'seconds%'")
    database.commit()
    database.close()


def test_same(lathe, folder):
    first = folder / "first"
    search(lathe, first, "--workers", "local:2")
    measured = [key for key, trial in trials(first).items() if trial[0] == "measured"]
    for name, words in {"here": [], "one": ["--workers", "local:1"],
                        "three": ["--workers", "local:3"]}.items():
        begin_anew(first, folder / name)
        search(lathe, folder / name, *words)
        assert numbers(folder / name) == numbers(first), f"{name}: scores differ"
        assert winner(folder / name) == winner(first), f"{name}: another winner"
    print(f"{len(measured)} variants measured by 2 workers, {len(numbers(first))} numbers; the "
          "same bits and the same winner here, with 1 and with 3")


class Cluster:
    """A scheduler and workers in processes of their own, which are started again if they die.

    wrapped has a function for each worker, by number, whose command is to be another one.
    """

    def __init__(self, lathe, count, wrapped=None, **more):
        self.lathe, self.more = lathe, more
        self.lock, self.is_over, self.processes = threading.Lock(), False, {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.commands = {"scheduler": [
            sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
            "--port", str(self.port), "--no-dashboard", "--no-show"]}
        for i in range(count):
            words = [str(lathe), "worker", "--scheduler", self.address, "--threads", "1", "--idle",
                     "1"]
            wrap = (wrapped or {}).get(i)
            self.commands[f"worker {i}"] = wrap(words) if wrap else words
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.is_over:
            with self.lock:
                for name, words in self.commands.items():
                    process = self.processes.get(name)
                    if process is None or process.poll() is not None:
                        self.processes[name] = subprocess.Popen(
                            words, env=environment(self.lathe, **self.more), text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)
            time.sleep(0.2)

    def kill(self, name):
        with self.lock:
            self.processes[name].kill()

    def close(self):
        self.is_over = True
        self.thread.join()
        for process in self.processes.values():
            process.kill()
            process.wait()


def test_kills(lathe, folder):
    draw = random.Random(1)
    victims = ["scheduler"] * KILLS_OF_SCHEDULERS + ["worker"] * KILLS
    draw.shuffle(victims)
    # Kills come faster here than a task is done: Dask would blame the task.
    cluster = Cluster(lathe, 2, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="20")
    runs = []
    try:
        while victims:
            runs.append(folder / f"killed{len(runs)}")
            kill_during(lathe, runs[-1], cluster, victims, draw)
    finally:
        cluster.close()
    tried = 0
    for run in runs:
        failed = {key: trial for key, trial in trials(run).items() if trial[0] == "failed"}
        assert not failed, failed
        tried += len(trials(run))
        begin_anew(run, run / "undisturbed")
        search(lathe, run / "undisturbed")
        assert numbers(run / "undisturbed") == numbers(run), "scores differ"
        assert winner(run / "undisturbed") == winner(run), "another winner"
    print(f"{KILLS} kills of workers and {KILLS_OF_SCHEDULERS} of the scheduler in {len(runs)} "
          f"searches; {tried} trials, none lost, none failed; the same winners")


def kill_during(lathe, run, cluster, victims, draw):
    """Searches, and kills processes meanwhile, as long as there are victims."""
    child = subprocess.Popen(command(lathe, run, "--workers", cluster.address), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env=environment(lathe))
    known = {}
    while not numbers_if_any(run) and child.poll() is None:
        time.sleep(0.1)
    while victims and child.poll() is None:
        victim = victims.pop()
        cluster.kill(victim if victim == "scheduler" else f"worker {draw.randrange(2)}")
        now = trials(run)
        lost = [key for key in known if known[key] != now.get(key)]
        assert not lost, f"lost: {lost}"
        known = now
        time.sleep(draw.uniform(0.8, 2.2))
    output, _ = child.communicate(timeout=400)
    assert child.returncode in (0, 1), output
    assert not [key for key in known if known[key] != trials(run).get(key)], "lost at the end"


def test_fleet(lathe, folder):
    other = folder / "other"  # the same program on a machine that says it is another one
    other.write_text(f"""#!/bin/sh
'{lathe}' "$@" | sed -u '1s/"machine":"[^"]*"/"machine":"another"/'
""")
    other.chmod(0o755)
    cluster = Cluster(lathe, 2)
    try:
        for i, (kind, program) in enumerate((("rack1", lathe), ("rack2", other))):
            words = cluster.commands[f"worker {i}"]
            cluster.commands[f"worker {i}"] = ["/usr/bin/env", f"LATHE_PROGRAM={program}", *words,
                                               "--kind", kind]
        for name in ("worker 0", "worker 1"):
            with cluster.lock:
                if name in cluster.processes:
                    cluster.processes[name].kill()
        told = search(lathe, folder / "run", "--workers", cluster.address, "--machine",
                      "rack1,rack2")
    finally:
        cluster.close()
    one, two = folder / "run" / "rack1", folder / "run" / "rack2"
    assert "warning" not in told, told
    machines = [dict(table(each, "SELECT name, value FROM identity"))["machine"]
                for each in (one, two)]
    assert machines[0] != "another" and machines[1] == "another", machines
    scored = {name: value for name, value in numbers(one).items() if " of " in name
              and not name.startswith("seconds")}
    assert scored and scored.items() <= numbers(two).items()
    first, second = ({key: trial[3] for key, trial in trials(each).items()} for each in (one, two))
    assert first.keys() & second.keys() and not first.items() & second.items(), "shared times"
    for each in (one, two):
        subprocess.run([str(lathe), "verify", str(each / "bundle")], check=True,
                       capture_output=True, env=environment(lathe))
    print(f"rack1 and rack2: {len(first)} and {len(second)} trials, {len(scored)} scores of both")


def numbers_if_any(folder):
    try:
        return numbers(folder)
    except sqlite3.Error:
        return {}


def certificates(folder):
    """Writes a certificate that is good and one that expired, both signed by themselves."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                    folder / "good.key", "-out", folder / "good.pem", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"],
                   check=True, capture_output=True)
    _old_certificate(folder)


def _old_certificate(folder):
    """"openssl req" has no word for the first day, "openssl ca" has."""
    authority = folder / "authority"
    authority.mkdir()
    (authority / "index.txt").write_text("")
    (authority / "serial").write_text("01\n")
    (authority / "conf").write_text(
        f"[ca]\ndefault_ca=d\n[d]\ndatabase={authority}/index.txt\nserial={authority}/serial\n"
        f"new_certs_dir={authority}\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
    subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout",
                    folder / "old.key", "-out", folder / "old.csr", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "ca", "-batch", "-config", authority / "conf", "-selfsign",
                    "-keyfile", folder / "old.key", "-in", folder / "old.csr", "-out",
                    folder / "old.pem", "-startdate", "20200101000000Z", "-enddate",
                    "20200201000000Z", "-notext"], check=True, capture_output=True)


def fails(lathe, folder, *words, **more):
    """Returns what a search says that cannot begin."""
    result = subprocess.run(command(lathe, folder / "none", *words), capture_output=True,
                            text=True, env=environment(lathe, **more), timeout=120)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    print(result.stderr.strip().splitlines()[-1])
    return result.stderr


def test_errors(lathe, folder):
    assert "install the wheel" in fails(lathe, folder, "--workers", "local:1", LATHE_PYTHON="")
    assert "write tcp://HOST:PORT" in fails(lathe, folder, "--workers", "nonsense")
    assert "number above 0" in fails(lathe, folder, "--workers", "local:many")
    assert "cannot be reached" in fails(lathe, folder, "--workers", "tcp://127.0.0.1:9")
    assert "not encrypted" in fails(lathe, folder, "--workers", "tcp://192.0.2.1:8786")
    assert "no certificate" in fails(lathe, folder, "--workers", "tls://127.0.0.1:9", "--tls-ca",
                                     "/nowhere.pem")
    assert "needs certificates" in fails(lathe, folder, "--workers", "tls://127.0.0.1:9")
    test_full_disk(lathe, folder)
    certificates(folder)
    for name, told in (("old", "expired"), ("good", "")):
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host",
             "tls://127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file",
             folder / f"{name}.json", "--tls-ca-file", folder / f"{name}.pem", "--tls-cert",
             folder / f"{name}.pem", "--tls-key", folder / f"{name}.key"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(lathe))
        try:
            while not (folder / f"{name}.json").exists():
                time.sleep(0.1)
                assert scheduler.poll() is None, "no scheduler with certificates"
            address = json.loads((folder / f"{name}.json").read_text())["address"]
            words = ["--tls-ca", folder / f"{name}.pem", "--tls-cert", folder / f"{name}.pem",
                     "--tls-key", folder / f"{name}.key"]
            if told:
                assert told in fails(lathe, folder, "--workers", address, *map(str, words))
                continue
            worker = subprocess.Popen([lathe, "worker", "--scheduler", address, "--idle", "1",
                                       *map(str, words)], env=environment(lathe),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                search(lathe, folder / "encrypted", "--workers", address, *map(str, words))
            finally:
                worker.kill()
                worker.wait()
            print("encrypted: a search came to its end")
        finally:
            scheduler.kill()
            scheduler.wait()


def test_full_disk(lathe, folder):
    """One of two workers has no room for the data: the other one does all."""
    import numpy
    images = folder / "images.npy"
    numpy.save(images, numpy.random.default_rng(1).random((200, 3, 32, 32), numpy.float32))
    numpy.save(folder / "labels.npy", numpy.arange(200) % 10)
    (folder / "disk").mkdir()
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", folder / "disk"],
                      capture_output=True).returncode:
        print("left out: no disk can be mounted here")
        return

    def on_the_disk(words):
        return ["unshare", "-m", "bash", "-c",
                f"mount -t tmpfs -o size=700k tmpfs {folder}/disk && TMPDIR={folder}/disk "
                f"{' '.join(words)} || sleep 9"]
    cluster = Cluster(lathe, 2, wrapped={1: on_the_disk})
    try:
        time.sleep(5)  # both are there before the search is
        told = search(lathe, folder / "full", "--workers", cluster.address, "--data",
                      f"npy:{images},{folder}/labels.npy")
    finally:
        cluster.close()
    line = [line for line in told.splitlines() if "No space left" in line]
    assert line, told
    print(line[0])


def need_dask(other):
    """Goes on in another Python where this one lacks what searches on many machines need."""
    if all(map(importlib.util.find_spec, ("distributed", "numpy"))):
        return
    if os.access(other, os.X_OK) and other != sys.executable:
        os.execv(other, [other, *sys.argv])
    print("skipped: distributed is not installed (scripts/setup --all)")
    sys.exit(SKIPPED)


def main(lathe, part, other=""):
    need_dask(other)
    lathe = pathlib.Path(lathe).resolve()
    warnings.simplefilter("ignore")  # of Dask, about ports
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"test_{part}"](lathe, pathlib.Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
