"""One thread for the matrix products of dense eigenproblems, as in the engine's workers.

They are long sequences of short products: a second thread mostly waits for the first, and on a busy
machine for a processor. Measured on such a machine with two threads: 2 to 12 times the CPU seconds
and up to 14 times the duration, for kernel and semidefinite methods.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController, threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread in a block or, as a decorator, in a function."""
    with _loaded().limit(limits=1, user_api="blas"):
        yield


@cache
def _loaded() -> ThreadpoolController:
    # Searching for the libraries takes 5 ms, so it is done once; those of NumPy and SciPy are
    # loaded before any fit.
    return ThreadpoolController()


@contextmanager
def one_thread_in_numba() -> Iterator[None]:
    """Limit numba's functions, BLAS and OpenMP to one thread within the block."""
    numba = sys.modules["numba"]  # already imported by the libraries that need this function
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)
