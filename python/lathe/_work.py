"""Long work of Lathe: it goes on in a thread, while this one shows how far it is and waits for
Ctrl-C."""
import queue
import threading

from lathe import _library
from lathe.progress import Progress


class _Ended:
    """What the thread says last."""

    def __init__(self, result=None, error=None):
        self.result, self.error = result, error


def work(start, title, progress=True):
    """Returns what ``start(listener)`` returns. Ctrl-C asks Lathe to stop.

    If Lathe had nothing to hand over by then, KeyboardInterrupt is raised, as usual. ``progress``
    is True for a bar on terminals and in notebooks, False for nothing, or a function that gets
    events.
    """
    events, stops = queue.SimpleQueue(), threading.Event()
    hears = _library.listener(events.put, stops.is_set)

    def body():
        try:
            events.put(_Ended(start(hears)))
        except BaseException as error:  # it is raised again, in the thread that waits
            events.put(_Ended(error=error))

    thread = threading.Thread(target=body, name="lathe", daemon=True)
    shown = Progress(title) if progress is True else None
    tell = shown.show if shown else progress if callable(progress) else lambda event: None
    thread.start()
    ended = None
    while ended is None:
        try:
            event = events.get()
            if isinstance(event, _Ended):
                ended = event
            else:
                tell(event)
        except KeyboardInterrupt:
            stops.set()
            if shown:
                shown.note("stopping; what was found so far is kept")
    if shown:
        shown.close()
    thread.join()
    if isinstance(ended.error, _library.Stopped) or (ended.error and stops.is_set()):
        raise KeyboardInterrupt
    if ended.error is not None:
        raise ended.error
    return ended.result


def call(name, options, title, progress=True):
    """Calls Lathe by name, as ``_library.call`` does, with progress and Ctrl-C."""
    return work(lambda hears: _library.call(name, options, hears), title, progress)
