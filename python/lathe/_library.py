"""liblathe.so: the functions of lathe.h, through ctypes, which releases the interpreter's lock."""
import ctypes
import functools
import json
import os
import pathlib

from lathe.error import Error

DONE, STOPPED = 0, 130
Tell = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
Stop = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Stopped(Exception):
    """A call was asked to stop, and had no result yet."""


class Listener(ctypes.Structure):
    """``struct lathe_listener``."""
    _fields_ = [("tell", Tell), ("stop", Stop), ("self", ctypes.c_void_p)]


def folder():
    """Returns the folder of what belongs to the package, but is not Python."""
    return pathlib.Path(__file__).parent / "native"


def _path():
    """Returns where the library is: in the package, or where LATHE_LIBRARY says."""
    given = os.environ.get("LATHE_LIBRARY")
    path = pathlib.Path(given) if given else folder() / "liblathe.so"
    if not path.exists():
        raise Error(f"there is no '{path}': install Lathe's wheel, or let LATHE_LIBRARY name the "
                    "liblathe.so that was built")
    return path


@functools.lru_cache(maxsize=None)
def library():
    """Returns the library, which is loaded when it is first needed."""
    lib = ctypes.CDLL(str(_path()))
    text, pointer, listener = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(Listener)
    for name, result, arguments in [
            ("lathe_version", text, []),
            ("lathe_error", text, []),
            ("lathe_call", ctypes.c_int, [text, text, listener, ctypes.POINTER(pointer)]),
            ("lathe_free", None, [pointer]),
            ("lathe_runner_open", pointer, [text, listener]),
            ("lathe_runner_close", None, [pointer]),
            ("lathe_runner_about", text, [pointer]),
            ("lathe_runner_run", ctypes.c_int,
             [pointer, ctypes.POINTER(pointer), ctypes.POINTER(pointer)])]:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def version():
    """Returns Lathe's version.

    >>> version().count(".")
    2
    """
    return library().lathe_version().decode()


def listener(tell=None, stop=None):
    """Returns who listens to a call. ``tell`` gets events, ``stop`` says whether it is to stop.

    The callbacks come from Lathe's threads, and must not raise.
    """
    def told(_, event):
        tell(json.loads(event))
    return Listener(Tell(told) if tell else Tell(),
                    Stop(lambda _: stop()) if stop else Stop(), None)


def options_text(options):
    """Returns options as Lathe reads them; those that are None are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    return json.dumps(given, default=os.fspath).encode()


def failure(status):
    """Returns the exception for what the last function of this thread could not do."""
    if status == STOPPED:
        return Stopped()
    return Error(library().lathe_error().decode())


def call(name, options, hears=None):
    """Calls Lathe by name; returns what it says. ``hears`` is a listener, or None."""
    lib, result = library(), ctypes.c_void_p()
    status = lib.lathe_call(name.encode(), options_text(options),
                            ctypes.byref(hears) if hears else None, ctypes.byref(result))
    if status != DONE:
        raise failure(status)
    try:
        return json.loads(ctypes.string_at(result))
    finally:
        lib.lathe_free(result)
