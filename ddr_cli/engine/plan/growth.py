"""How a reducer's time and memory grow with the number of training samples, as measured."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.core.own_code import display_name
from ddr_cli.core.processes import machine_memory
from ddr_cli.core.registry import PACKAGE
from ddr_cli.engine.progress import duration

if TYPE_CHECKING:
    from ddr_cli.spec import Spec

_LONG_SECONDS = 3600.0


@dataclass(frozen=True)
class Growth:
    """The measurements of a reducer, by `benchmarks/bench_growth.py`.

    `memory` has the megabytes by number of samples; `seconds` are those of the largest number;
    `stopped` is the reason why no larger one was measured.
    """

    memory: Mapping[int, float]
    seconds: float
    time_exponent: float
    memory_exponent: float
    stopped: str = ""

    def at(self, n: int) -> tuple[float, float]:
        """Return the expected seconds and megabytes of a fit to n samples."""
        largest = max(self.memory)
        ratio = n / largest
        return (
            self.seconds * ratio**self.time_exponent,
            self.memory[largest] * ratio**self.memory_exponent,
        )

    def __str__(self) -> str:
        largest = max(self.memory)
        text = (
            f"time grows as n^{self.time_exponent:.1f}, memory as n^{self.memory_exponent:.1f}, "
            f"measured from {min(self.memory):,} to {largest:,} samples; "
            f"{self.seconds:.2g} s and {self.memory[largest]:,.0f} MB for {largest:,} samples"
        )
        return text + (f" ({self.stopped})" if self.stopped else "")


@cache
def growths() -> Mapping[str, Growth]:
    """Return the measured reducers by name; empty if the table is not installed."""
    installed = PACKAGE / "_growth.csv"
    path = installed if installed.is_file() else PACKAGE.parent / "results/benchmarks/growth.csv"
    return read_growths(path) if path.is_file() else {}


def read_growths(path: Path) -> Mapping[str, Growth]:
    """Return the reducers of a table of `benchmarks/bench_growth.py` by name."""
    rows: dict[str, list[dict[str, str]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["method"], []).append(row)
    return {
        name: Growth(
            memory={int(row["n"]): float(row["MB"]) for row in of},
            seconds=float(of[-1]["seconds"]),
            time_exponent=float(of[-1]["time exponent"]),
            memory_exponent=float(of[-1]["memory exponent"]),
            stopped=of[-1]["stopped"],
        )
        for name, of in rows.items()
        if len(of) > 1
    }


def too_large(spec: Spec, timeout: float | None) -> dict[str, str]:
    """Return a line, by label, for each reducer whose fits are expected to exceed a limit.

    The limits are `timeout`, or an hour if it is None, and the memory of this machine. The
    expectation is the measured growth, continued to the spec's largest training set.
    """
    from ddr_cli.spec.feasible import TRANSDUCTIVE, limits_of

    limits, memory = limits_of(spec), machine_memory()
    lines = {}
    for item in spec.reducers:
        n = limits.n_samples if item.mode == TRANSDUCTIVE else limits.n_train
        growth = growths().get(item.name)
        if n is None or growth is None:
            continue
        seconds, megabytes = growth.at(n)
        reasons = []
        if seconds > (timeout or _LONG_SECONDS):
            limit = f"the limit is {timeout:g} s" if timeout else "there is no --timeout"
            reasons.append(f"about {duration(seconds)} ({limit})")
        if memory is not None and megabytes > memory / 1024**2:
            has = f"this machine has {memory / 1024**2 / 1000:,.0f} GB"
            reasons.append(f"about {megabytes / 1000:,.0f} GB of memory ({has})")
        if reasons:
            lines[item.label] = (
                f"a fit of {item.label} to {n:,} samples is expected to take "
                f"{' and '.join(reasons)}; use a smaller training set, or see "
                f"'ddr describe {display_name(item.name)}'"
            )
    return lines
