"""``lathe worker``: lends this machine to searches. Dask starts it, too: it takes the words of
``dask worker`` that clusters give it."""
import argparse
import asyncio
import logging
import signal
import sys
import time
import warnings

from lathe.error import Error
from lathe.workers import security

PAUSE, LONGEST = 1.0, 30.0  # seconds between two attempts to reach the scheduler


def parse(words):
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="lathe worker", description=__doc__.splitlines()[0])
    parser.add_argument("address", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="tcp://HOST:PORT or tls://HOST:PORT")
    parser.add_argument("--kind", default="", help="a name for machines like this one")
    parser.add_argument("--threads", type=int, default=0,
                        help="how many variants are scored at a time; one for each processor "
                             "unless told")
    parser.add_argument("--idle", type=float, default=0.5,
                        help="how much of the machine others may use while it measures")
    parser.add_argument("--once", action="store_true", help="end when the scheduler does")
    parser.add_argument("--name")
    security.add_options(parser)
    for one in ("--nthreads", "--nworkers", "--memory-limit", "--death-timeout",
                "--local-directory", "--interface", "--protocol"):
        parser.add_argument(one, help=argparse.SUPPRESS)
    parser.add_argument("--nanny", "--no-nanny", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    given.scheduler = given.scheduler or given.address
    if not given.scheduler:
        raise Error("say who gives out the work: lathe worker --scheduler tcp://HOST:PORT")
    security.check_address(given.scheduler, given)
    return given


async def lend(given):
    """Works until the scheduler is gone. Returns why it could not begin; "" if it did."""
    from lathe.workers.machine import LatheWorker
    try:
        worker = LatheWorker(given.scheduler, name=given.name, threads=given.threads,
                             kind=given.kind, idle=given.idle, security=security.security(given),
                             death_timeout=20, silence_logs=logging.ERROR)
    except OSError as error:
        raise Error(f"this machine cannot work: {error.strerror or error}") from None
    try:
        async with worker:
            print(f"lathe worker: {worker.told['machine']}, for {given.scheduler}", flush=True)
            await worker.finished()
            return ""
    except (OSError, TimeoutError, asyncio.TimeoutError, RuntimeError) as error:
        return security.why(error)


def main(words):
    """Lends this machine, again and again where the scheduler went away."""
    given, pause = parse(words), PAUSE
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        failure = asyncio.run(lend(given))
        if failure:
            print(f"lathe worker: {given.scheduler} cannot be reached: {failure}", file=sys.stderr,
                  flush=True)
        if given.once:
            return 2 if failure else 0
        pause = min(LONGEST, pause * 2) if failure else PAUSE
        time.sleep(pause)


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")  # of Dask, about ports and such
    try:
        sys.exit(main(sys.argv[1:]))
    except ImportError as error:
        sys.exit(f"lathe worker: {error}: pip install 'lathe[machines]'")
    except Error as error:
        print(f"lathe worker: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
