"""A suite's plan and status as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ddr_cli.engine.progress import duration
from ddr_cli.engine.suite import ESTIMATED, MEASURED, Cost, Part, Tally
from ddr_cli.report.table import Table

if TYPE_CHECKING:
    from ddr_cli.spec.suite import Suite

Costs = Mapping[tuple[str, str, str], Cost]

_SOURCES = {
    MEASURED: "from rows",
    ESTIMATED: "by a fit, the method's times the data set's",
}


def cost_table(parts: Sequence[Part], costs: Costs) -> pd.DataFrame:
    """Return the cost of each method on each data set of a track.

    `seconds` are of one split, `source` is where they come from, and `seconds_left` are of the
    splits to do. What is not known is missing.
    """
    records = []
    for part in parts:
        left = {name: 0 for name, tally in part.tallies.items() if tally.planned}
        for key in part.plan.fits:
            for name in part.to_do(key):
                left[name] += 1
        for name, splits in left.items():
            cost = costs.get((part.track, part.dataset, name))
            seconds, source = cost or (None, "")
            rest = None if cost is None else splits * cost.seconds
            records.append(
                (part.track, part.dataset, name, seconds, source, len(part.plan.fits), splits, rest)
            )
    columns = ["track", "dataset", "method", "seconds", "source", "splits", "to_do", "seconds_left"]
    return pd.DataFrame(records, columns=columns)


def plan_tables(table: pd.DataFrame) -> list[Table]:
    """Return the CPU time of a plan by method and by data set, the dearest first."""
    whole = table.assign(whole=table["seconds"] * table["splits"])
    found = []
    for by in (["method"], ["track", "dataset"]):
        sums = whole.groupby(by, sort=False)[["whole", "seconds_left"]].sum()
        sums["unknown"] = whole["seconds"].isna().groupby([whole[name] for name in by]).sum()
        sums = sums.sort_values("whole", ascending=False, kind="stable")
        rows = [
            (
                *(key if isinstance(key, tuple) else (key,)),
                duration(row["whole"]),
                duration(row["seconds_left"]),
                str(int(row["unknown"]) or ""),
            )
            for key, row in sums.iterrows()
        ]
        names = [name.replace("dataset", "data set") for name in by]
        totals = [duration(sums["whole"].sum()), duration(sums["seconds_left"].sum())]
        found.append(
            Table(
                pd.DataFrame(rows, columns=[*names, "CPU time", "to do", "unknown"]),
                left=tuple(names),
                total=("all", *[""] * (len(by) - 1), *totals, str(int(sums["unknown"].sum()))),
                narrow=True,
            )
        )
    return found


def plan_notes(table: pd.DataFrame) -> list[str]:
    """Say where the times come from, and what is not known."""
    counts = table["source"].value_counts()
    total = table["seconds"].sum()
    lines = [
        f"{counts[source]} of {len(table)} times {how} "
        f"({table.loc[table['source'] == source, 'seconds'].sum() / total:.0%} of the sum)"
        for source, how in _SOURCES.items()
        if source in counts and total
    ]
    if unknown := counts.get("", 0):
        lines.append(
            f"{unknown} of {len(table)} times are unknown and left out of the sums: they have no "
            "rows to estimate from before the first split has run"
        )
    return lines


def covered(parts: Sequence[Part], costs: Costs, hours: float) -> str:
    """Say what so many CPU hours would cover of what is to do, in the order of a run."""
    left = hours * 3600
    most = max(len(part.plan.fits) for part in parts)
    for number in range(most):
        for ended, part in enumerate(parts):
            keys = list(part.plan.fits)[number : number + 1]
            for key in keys:
                spent = (costs.get((part.track, part.dataset, m)) for m in part.to_do(key))
                left -= sum(cost.seconds for cost in spent if cost is not None)
            if left < 0:
                return (
                    f"{hours:g} CPU hours cover {number} of {most} splits of every data set, and "
                    f"the next of {ended} of {len(parts)}: up to {part.spec.name}"
                )
    unknown = any(
        (part.track, part.dataset, name) not in costs
        for part in parts
        for key in part.plan.fits
        for name in part.to_do(key)
    )
    known = ", as far as the times are known" * unknown
    return f"{hours:g} CPU hours cover all that is to do{known}, and leave {duration(left)}"


def status_tables(parts: Sequence[Part]) -> list[Table]:
    """Return how far a suite is, by data set and by method."""
    by_method: dict[str, list[Tally]] = {}
    for part in parts:
        for name, tally in part.tallies.items():
            by_method.setdefault(name, []).append(tally)
    by_set = {part.spec.name: list(part.tallies.values()) for part in parts}
    return [_tallied("data set", by_set), _tallied("method", by_method)]


def _tallied(title: str, groups: Mapping[str, Sequence[Tally]]) -> Table:
    sums = {name: total(tallies) for name, tallies in groups.items()}
    sums["all"] = total(list(sums.values()))
    counts = ("planned", "done", "failed", "stale", "missing")
    rows = [(name, *(str(getattr(each, of) or "") for of in counts)) for name, each in sums.items()]
    *rows, (_, *totals) = rows
    return Table(
        pd.DataFrame(rows, columns=[title, *counts]),
        total=(f"{len(rows)} in all", *totals),
        narrow=True,
    )


def total(tallies: Sequence[Tally]) -> Tally:
    """Return the sum of tallies."""
    return Tally(*(sum(column) for column in zip(*tallies, strict=True)))


def one_line(suite: Suite, parts: Sequence[Part]) -> str:
    """Say how far a suite is."""
    counted = total([tally for part in parts for tally in part.tallies.values()])
    text = (
        f"{suite.name}, version {suite.version}: {counted.done} of {counted.planned} trials of "
        f"{len(parts)} specs have a row"
    )
    more = {"failed": counted.failed, "of an older version": counted.stale}
    return ", ".join([text, *(f"{n} {what}" for what, n in more.items() if n)])
