"""Measure how the time and memory of each reducer grow with the number of training samples.

    python benchmarks/bench_growth.py [METHOD ...] [--seconds 20] [--megabytes 4000] [--quick]
                                      [--out FOLDER]

Each reducer whose library is installed embeds 36-dimensional Gaussian classes in 5 dimensions and,
if it can, transforms one more sample: this is the minimum cost of a trial. Each fit runs in a
separate process on one thread. A method stops at the size that exceeds a limit, or before a size
that is expected to take more than twice the time limit, by the growth between its last two sizes. A
method with fewer than two sizes is also measured at smaller ones. Rows of other methods stay, so
after a change you can measure only the methods whose code changed. `ddr describe` and `ddr plan`
read the table.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from measure import LimitError, Worker
from tables import exponent, options, renew
from works import growth

SMALLER = (250, 500)
LEAST_SECONDS, LEAST_MEGABYTES = 0.005, 1.0  # Below these, a measurement is mostly noise.
PATIENCE = 2.0


def sizes_of(
    worker: Worker, method: str, sizes: tuple[int, ...], limits: tuple[float, float]
) -> tuple[list[dict[str, Any]], str]:
    """Return the measured sizes, and the limit that stopped the method."""
    done: list[dict[str, Any]] = []
    for n in sizes:
        if len(done) > 1:
            before, last = done[-2:]
            slope = exponent([before["n"], last["n"]], [before["seconds"], last["seconds"]])
            expected = last["seconds"] * (n / last["n"]) ** slope
            if expected > PATIENCE * limits[0]:
                return done, f"{n:,} samples: about {expected:.0f} s expected"
        try:
            fit = worker.measure("growth", method, n, limits)
        except LimitError as error:
            return done, f"{n:,} samples: {error}"
        seconds = round(max(fit.seconds, LEAST_SECONDS), 3)
        megabytes = round(max(fit.megabytes, LEAST_MEGABYTES), 1)
        done.append({"method": method, "n": n, "seconds": seconds, "MB": megabytes})
        print(*done[-1].values(), sep="  ", flush=True)
    return done, ""


def rows_of(
    worker: Worker, method: str, sizes: tuple[int, ...], limits: tuple[float, float]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a method, each with the exponents over all its sizes."""
    done, stopped = sizes_of(worker, method, sizes, limits)
    if len(done) < 2:
        done = [*sizes_of(worker, method, SMALLER, limits)[0], *done]
    n = [row["n"] for row in done]
    for row in done:
        yield row | {
            "time exponent": round(exponent(n, (each["seconds"] for each in done)), 2) + 0.0,
            "memory exponent": round(exponent(n, (each["MB"] for each in done)), 2) + 0.0,
            "stopped": stopped if row is done[-1] else "",
        }


def main() -> int:
    parser = options(__doc__)
    work = growth()
    parser.add_argument("methods", nargs="*", choices=[*work.methods, []], default=[])
    parser.add_argument("--seconds", type=float, default=20, help="limit on a fit's CPU seconds")
    parser.add_argument("--megabytes", type=float, default=4000, help="limit on the added memory")
    given = parser.parse_args()
    sizes = (work.least, 2 * work.least) if given.quick else work.sizes
    limits = (math.ceil(given.seconds), given.megabytes)
    failed = False
    for method in given.methods or work.methods:
        # A new process for each method, so that its memory excludes other methods' libraries.
        worker = Worker()
        try:
            renew(rows_of(worker, method, sizes, limits), given, "growth", key="method")
        except RuntimeError as error:
            failed = True
            print(error, file=sys.stderr)
        worker.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
