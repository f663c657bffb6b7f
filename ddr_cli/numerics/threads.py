"""One thread for the matrix products of dense eigenproblems, as the engine gives each worker.

They are long rows of short products: a second thread mostly spins until the first has finished, and
on a busy machine waits for a processor. Measured there with two threads: 2 to 12 times the CPU
seconds and up to 14 times the duration, for kernel and semidefinite methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread in a block, or as a decorator in a function."""
    with _loaded().limit(limits=1, user_api="blas"):
        yield


@cache
def _loaded() -> ThreadpoolController:
    # To look for the libraries takes 5 ms, and NumPy's and SciPy's are there before any fit.
    return ThreadpoolController()
