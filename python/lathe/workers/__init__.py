"""Searches on many machines, by Dask's distributed: ``pip install lathe[machines]``.

A search sends tasks to a dispatcher (``dispatcher.py``), a process of its own, in lines of JSON.
The dispatcher is a client of Dask's scheduler. A worker (``machine.py``) is a worker of Dask that
hands each task to the program ``lathe tasks`` (``engine.py``), in lines of JSON again. So nothing
that arrives is unpickled by Lathe itself, and a task that crashes or hangs takes no worker with it.
"""
