"""Tasks that wait for a worker."""
import collections


class Waiting:
    """Tasks that wait, in the order in which they came, by the kind of layer that they are about.

    What is compiled for a variant is mostly the same for the next one of that kind, and a worker
    remembers what it compiled. So a worker goes on with the kinds that it has, and begins with
    another one only where none of these waits: that of which most waits for each worker at it.
    """

    def __init__(self):
        self._queues = {}  # by the kind of layer
        self._at = collections.defaultdict(set)  # workers by the kind that they have

    def __len__(self):
        return sum(map(len, self._queues.values()))

    def add(self, task):
        self._queues.setdefault(task.like, collections.deque()).append(task)

    def next(self, most, state, worker=None, others=frozenset()):
        """Returns tasks that go together: at most so many, about one kind of layer, or a single one.

        ``state`` says of a task "now", "later", or "never": that one is dropped. They are for
        ``worker``, beside whom ``others`` work; None: for anyone.
        """
        for like in self._order(worker, others):
            if found := self._from(self._queues[like], most, state):
                if worker is not None:
                    self._at[like].add(worker)
                return found
        return []

    def _order(self, worker, others):
        """Returns the kinds of layers, first those that a worker is to go on with."""
        if worker is None:
            return list(self._queues)
        return sorted(self._queues, key=lambda like: (
            worker not in self._at[like],
            -len(self._queues[like]) / (1 + len(self._at[like] & others))))

    @staticmethod
    def _from(queue, most, state):
        found, later = [], []
        while queue and len(found) < most:
            task = queue.popleft()
            when = state(task)
            if when == "later":
                later.append(task)
            if when != "now":
                continue
            # What failed before goes alone: it may be at fault.
            is_single = task.do != "layer" or task.reasons
            if is_single and found:
                queue.appendleft(task)
                break
            found.append(task)
            if is_single:
                break
        queue.extend(later)
        return found
