"""The program ``lathe tasks``: it does the tasks of a worker, one after the other."""
import collections
import json
import os
import pathlib
import select
import subprocess
import threading
import time

from lathe.error import Error

SAID = 20  # lines of its messages that are kept, for errors


def program():
    """Returns the program lathe: the package's, or where LATHE_PROGRAM says."""
    given = os.environ.get("LATHE_PROGRAM")
    path = pathlib.Path(given) if given else (
        pathlib.Path(__file__).parents[1] / "native" / "lathe")
    if not path.exists():
        raise Error(f"there is no '{path}': install Lathe's wheel, or let LATHE_PROGRAM name the "
                    "program lathe that was built")
    return str(path)


class Engine:
    """A process that does tasks. It is started when it is first needed, and again where it ended.

    ``about`` is what it says of the machine: version, target, cpu, threads.
    """

    START = 120  # seconds in which it must say what machine this is

    def __init__(self, threads=0):
        self._command = [program(), "tasks", *(["--threads", str(threads)] if threads else [])]
        self._child, self._text = None, b""
        self._said = collections.deque(maxlen=SAID)
        self.about = None
        self._start()

    @property
    def pid(self):
        """The process, for tests that kill it."""
        return self._child.pid

    def ask(self, task, limit):
        """Returns the answer to a task. Fails if there is none after ``limit`` seconds, or if the
        process ended; the next task gets another process."""
        if self._child is None or self._child.poll() is not None:
            self._start()
        try:
            self._child.stdin.write(json.dumps(task).encode() + b"\n")
            self._child.stdin.flush()
            return json.loads(self._line(limit))
        except TimeoutError:
            self.close()
            raise Error(f"it took longer than {limit:.0f} s") from None
        except (EOFError, OSError):
            raise Error(self._end()) from None

    def close(self):
        """Ends the process."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None

    def _start(self):
        self._text = b""
        self._said.clear()
        self._child = subprocess.Popen(self._command, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        threading.Thread(target=self._listen, args=(self._child.stderr,), daemon=True).start()
        try:
            self.about = json.loads(self._line(self.START))
        except (EOFError, TimeoutError):
            raise Error(f"the program '{self._command[0]}' does not start: {self._end()}") from None

    def _listen(self, stream):
        for line in stream:
            self._said.append(line.decode(errors="replace").strip())

    def _line(self, limit):
        """Returns the next line that it prints."""
        end, stream = time.monotonic() + limit, self._child.stdout.fileno()
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if not select.select([stream], [], [], left)[0]:
                continue
            more = os.read(stream, 1 << 16)
            if not more:
                raise EOFError
            self._text += more
        line, _, self._text = self._text.partition(b"\n")
        return line

    def _end(self):
        """Says how the process ended."""
        child, self._child = self._child, None
        child.kill()
        status = child.wait()
        said = " ".join(line for line in self._said if line)
        how = f"killed by signal {-status}" if status < 0 else f"status {status}"
        return f"the process that did it ended ({how})" + (f": {said}" if said else "")
