"""Compare the CPU seconds and the memory of ddr's methods with those of peer libraries.

    python benchmarks/bench_methods.py [WORK ...] [--runs 5] [--quick] [--out FOLDER]

Fits of ddr and of the peers alternate. Each fit runs in its own process, on one thread unless the
work states otherwise. The table has the median seconds. If a fit takes more than a minute, there
are only two runs, as the column `runs` shows. Peers that need other versions of libraries run in
`.venv-peers`, which `make bench` creates from `benchmarks/peers.txt`; without it, the script skips
them. The script measures the named works again and keeps the other rows. It writes the table after
each size.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
from checks import CHECKS
from measure import Worker, in_turn, summary
from tables import folder, options, write
from works import WORKS, Method, points

from ddr_cli.core.errors import DataUnavailableError

ORDER = {name: place for place, name in enumerate(WORKS)}
PEERS = Path(".venv-peers/bin/python")


class Workers:
    """The processes that measure, each started at its first use."""

    def __init__(self, *, warm: bool) -> None:
        self._warm = warm
        self._started: dict[tuple[bool, int], Worker] = {}

    def of(self, how: Method) -> Worker:
        """Return the process for a method's environment and number of threads."""
        key = (how.peers, how.threads)
        if key not in self._started:
            python = PEERS if how.peers else sys.executable
            self._started[key] = Worker(python, warm=self._warm, threads=how.threads)
        return self._started[key]

    def close(self) -> None:
        for worker in self._started.values():
            worker.close()


def measured(name: str, n: int, workers: Workers, runs: int) -> list[dict[str, Any]]:
    """Return a row for each method of a work at a size."""
    work = WORKS[name]
    X, y = points(name, n)
    asked = {
        method: workers.of(how)
        for method, how in work.methods.items()
        if n <= how.most and (PEERS.is_file() or not how.peers)
    }
    found = in_turn(asked, name, n, runs)
    checked = {}
    if work.check:
        answers = {method: of[0].answer for method, of in found.items()}
        checked = CHECKS[work.check](X, y, answers)
    rows = []
    for method, of in found.items():
        row = {"work": name, "method": method, "n": n, "d": X.shape[1], **summary(of)}
        what, value, is_right = checked.get(method, ("", None, True))
        row["answer"] = f"{what} {value:.5g}" if what else ""
        rows.append({**row, "wrong": "" if is_right else "wrong"})
        print(*rows[-1].values(), sep="  ", flush=True)
    return rows


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("works", nargs="*", choices=[*WORKS, []], default=[])
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    workers = Workers(warm=not given.quick)
    if not PEERS.is_file():
        print("Skipping metric-learn and umap: `make bench` creates their environment")
    path = folder(given) / "methods.csv"
    table = pd.read_csv(path, keep_default_na=False) if path.is_file() else pd.DataFrame()
    failed = False
    for name in given.works or WORKS:
        work = WORKS[name]
        sizes = (work.least, work.least * 3 // 2) if given.quick else work.sizes
        kept = table[table["work"] != name] if len(table) else table
        rows: list[dict[str, Any]] = []
        try:
            for n in sizes:
                rows += measured(name, n, workers, 1 if given.quick else given.runs)
                table = pd.concat([kept, pd.DataFrame(rows)])
                table = table.sort_values("work", key=lambda of: of.map(ORDER), kind="stable")
                write(table, given, "methods")
        except DataUnavailableError as error:
            print(f"Skipping {name}: {error}")
        except Exception as error:
            failed = True
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    workers.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
