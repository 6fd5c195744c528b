"""``python -m lathe.workers ADDRESS``: what a search starts to have its work done elsewhere. It
reads objects in JSON, a line each, and writes such; the first one says what the search is about."""
import argparse
import json
import os
import signal
import sys
import threading
import warnings


def main(words):
    """Works for a search until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the search says when it is over
    # What anybody else prints is for people.
    out, lock = os.fdopen(os.dup(1), "w"), threading.Lock()
    os.dup2(2, 1)

    def say(message):
        with lock:
            out.write(json.dumps(message) + "\n")
            out.flush()

    try:
        _work(words, say)
    except BrokenPipeError:
        pass
    except Exception as error:
        from lathe.error import Error
        if isinstance(error, ImportError):
            error = Error(f"--workers needs Dask: {error}: pip install 'lathe[machines]'")
        elif not isinstance(error, Error):
            raise
        say({"error": str(error)})


def _work(words, say):
    import logging
    from lathe.workers import security
    from lathe.workers.dispatcher import Dispatcher, listen
    from lathe.workers.place import Place
    # Dask sets this, too, when it is imported.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")  # of Dask, about ports and such
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--kind", default="")
    security.add_options(parser)
    given = parser.parse_args(words)
    first = json.loads(sys.stdin.readline() or "{}")
    place = Place(given.address, given)
    try:
        dispatcher = Dispatcher(place, say, first["search"], first["here"], given.kind)
        listen(dispatcher, sys.stdin)
        dispatcher.run()
    finally:
        place.close()


if __name__ == "__main__":
    main(sys.argv[1:])
