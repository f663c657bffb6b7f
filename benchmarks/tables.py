"""Write the benchmarks' tables, fit exponents, and compare measurements with goals."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from works import WORKS, Goal

from ddr_cli.rows.manifest import here

RESULTS = Path("results/benchmarks")
QUICK = Path("build/benchmarks")
MACHINES = "machines.csv"


def options(about: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smoke test: small sizes, one run")
    parser.add_argument("--out", type=Path, help=f"default: {RESULTS}; with --quick: {QUICK}")
    return parser


def folder(given: argparse.Namespace) -> Path:
    """Return the folder of the tables."""
    return given.out or (QUICK if given.quick else RESULTS)


def write(
    rows: Iterable[Mapping[str, Any]] | pd.DataFrame, given: Any, name: str, *, keep: bool = False
) -> None:
    """Write a table, and the machine to `MACHINES`; `keep` keeps the table's other machines."""
    path = folder(given) / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False, lineterminator="\n")
    machine = here()
    memory = f"{(machine.memory_bytes or 0) / 1e9:.0f} GB"
    text = f"{machine.cpu}, {machine.cores} cores, {memory}, Python {machine.python}"
    machines = path.parent / MACHINES
    known = pd.read_csv(machines) if machines.is_file() else pd.DataFrame(columns=["table"])
    new = pd.DataFrame([{"table": name, "machine": text}])
    kept = known if keep else known[known["table"] != name]
    table = pd.concat([kept, new]).drop_duplicates().sort_values(["table", "machine"])
    table.to_csv(machines, index=False, lineterminator="\n")


def renew(rows: Iterable[Mapping[str, Any]], given: Any, name: str, key: str = "work") -> None:
    """Replace the rows of these works in a table; other rows stay."""
    path, new = folder(given) / f"{name}.csv", pd.DataFrame(rows)
    old = pd.read_csv(path, keep_default_na=False) if path.is_file() else new
    write(pd.concat([old[~old[key].isin(new[key])], new]), given, name, keep=True)


def exponent(n: Iterable[float], seconds: Iterable[float]) -> float:
    """Return the slope of log seconds against log size; nan for a single size."""
    sizes, spent = np.array([*n], dtype=float), np.array([*seconds], dtype=float)
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(spent, 1e-4)), 1)[0])


def goal_text(goal: Goal) -> str:
    """Return a goal as text."""
    said = []
    if goal.times is not None:
        said.append(f"≤ {goal.times:g} × {goal.peer}")
    if goal.seconds is not None:
        said.append(f"≤ {goal.seconds:g} s")
    if goal.megabytes is not None:
        said.append(f"≤ {goal.megabytes:,.0f} MB")
    if goal.exponent is not None:
        said.append(f"exponent ≤ {goal.exponent:g}")
    return ", ".join(said)


def is_met(goal: Goal, row: Mapping[str, Any]) -> bool:
    """Return whether a row of the table meets a goal."""
    return (
        (goal.times is None or row["ratio"] <= goal.times)
        and (goal.seconds is None or row["seconds"] <= goal.seconds)
        and (goal.megabytes is None or row["MB"] <= goal.megabytes)
        and (goal.exponent is None or row["exponent"] <= goal.exponent)
    )


def against_goals(measured: pd.DataFrame) -> pd.DataFrame:
    """Return a row per goal, and one per peer without a goal, at the peer's largest size."""
    rows = []
    for work, of_work in measured.groupby("work", sort=False):
        first, *peers = WORKS[work].methods
        by_method = {name: of.set_index("n") for name, of in of_work.groupby("method")}
        goals = [
            goal
            for goal in WORKS[work].goals
            if goal.n in by_method.get(goal.ours or first, of_work[:0]).index
        ]
        for peer in peers:
            if peer in by_method and all(peer not in (goal.peer, goal.ours) for goal in goals):
                goals.append(Goal(int(by_method[peer].index.max()), peer))
        goals = goals or [Goal(int(by_method[first].index.max()))]
        for goal in goals:
            ours = by_method[goal.ours or first]
            name = f"{work}: {goal.ours}" if goal.ours not in ("", first) else work
            row = {"work": name, "n": goal.n, **_figures(ours, goal.n)}
            if goal.peer:
                if goal.n not in by_method.get(goal.peer, ours[:0]).index:
                    continue
                peer = _figures(by_method[goal.peer], goal.n)
                row |= {"peer": goal.peer, **{f"peer {key}": value for key, value in peer.items()}}
                row["ratio"] = row["seconds"] / row["peer seconds"]
            row["goal"] = goal_text(goal)
            row["met"] = ("yes" if is_met(goal, row) else "no") if row["goal"] else ""
            rows.append(row)
    return pd.DataFrame(rows).round({"ratio": 3})


def _figures(of_method: pd.DataFrame, n: int) -> dict[str, Any]:
    """Return the measurements at a size, with the exponent over all sizes."""
    row = of_method.loc[n, ["d", "seconds", "MB", "runs", "answer", "wrong"]].to_dict()
    return row | {"exponent": round(exponent(of_method.index, of_method["seconds"]), 2)}


def with_table(page: str, name: str, table: pd.DataFrame) -> str:
    """Return the page with a table instead of the text between its two comments."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n\n{markdown(table)}\n\n{end}{rest.partition(end)[2]}"


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown, with empty cells for missing values."""
    cells = table.astype(object).where(table.notna(), "")
    lines = [list(map(str, table.columns)), ["---"] * len(table.columns)]
    lines += [[str(cell) for cell in row] for row in cells.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
