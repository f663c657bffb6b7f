"""Generate docs/speed.md and its figures from the tables in results/benchmarks.

    python benchmarks/page.py [--out FOLDER]

Run it after any benchmark; `make bench` runs all benchmarks and then this script. All figures in
the page's tables come from these files. `reasons.py` explains the goals that are not met.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from reasons import REASONS
from tables import MACHINES, RESULTS, against_goals, folder, markdown, options
from works import WORKS

PAGE = Path("docs/speed.md")

LINKED = {
    "methods": "time, memory and checks of methods and peer libraries, for all sizes",
    "growth": "seconds and memory of each method by number of training samples",
    "engine": "the overhead of a run",
    "commands": "time and memory of the commands",
    "cluster": "runs on a Dask cluster",
    "scale": "CCDR with approximate neighbours and with subsampling",
    "ccdr_solver": "eigensolvers for the graph of CCDR",
    "tuning": "tuning in a run compared with scikit-learn's `GridSearchCV`",
    "faults": "lost, wrong and duplicated rows after faults were injected into runs",
    "interval_coverage": "how often each interval covers the true value",
    "comparison_errors": "how often `ddr compare` reports a difference between two methods",
}
"""The tables' descriptions, by file name."""

PICTURES = (("seconds", "seconds", "CPU seconds"), ("memory", "MB", "megabytes added"))


def seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 100 else f"{value:,.0f} s"


def megabytes(value: float) -> str:
    return f"{value:,.0f} MB"


def thousands(n: int) -> str:
    return f"{n:g}" if n < 1000 else f"{n / 1000:.3g}k" if n < 10**6 else f"{n / 10**6:g}M"


def compact(goals: pd.DataFrame) -> pd.DataFrame:
    """Return the table of goals with fewer columns."""
    rows = []
    for row in goals.to_dict("records"):
        has_peer = isinstance(row.get("peer"), str)
        if not (has_peer or row["goal"]):
            continue
        wrong = " (**wrong**)" if row["peer wrong"] == "wrong" else ""
        added = f", {megabytes(row['MB'])}" if "MB" in row["goal"] else ""
        factor = re.match(r"≤ \S+ ×", row["goal"])
        rows.append(
            {
                "work": row["work"],
                "n": f"{row['n']:,}",
                "ddr": seconds(row["seconds"]) + added,
                "peer": f"{row['peer']}: {seconds(row['peer seconds'])}{wrong}" * has_peer,
                "ratio": f"{row['ratio']:.2g}" if has_peer else "",
                # The peer of the goal is in its own column.
                "goal": factor[0].removesuffix(" ×") if factor else row["goal"],
                "met": row["met"],
            }
        )
    return pd.DataFrame(rows)


def others(tables: Path) -> pd.DataFrame:
    """Return one table of the engine, the commands, and CCDR on many samples."""
    rows = []
    if (tables / "engine.csv").is_file():
        engine = pd.read_csv(tables / "engine.csv", dtype=str, keep_default_na=False)
        rows += engine[["work", "ours", "goal", "met"]].to_dict("records")
    if (tables / "commands.csv").is_file():
        commands = pd.read_csv(tables / "commands.csv", keep_default_na=False)
        for row in commands.to_dict("records"):
            took = f"{seconds(row['seconds'])}, {megabytes(row['MB'])}"
            bounds = re.findall(r"([\d,.]+) (s|MB|imports?)\b", row["goal"])
            columns = {"s": "seconds", "MB": "MB"}
            within = all(
                row[columns.get(unit, "floors")] <= float(most.replace(",", ""))
                for most, unit in bounds
            )
            met = ("yes" if within else "no") if bounds else ""
            rows.append({"work": row["work"], "ours": took, "goal": row["goal"], "met": met})
    if (tables / "scale.csv").is_file():
        scale = pd.read_csv(tables / "scale.csv", keep_default_na=False)
        for row in scale[scale["ratio"].astype(str) != ""].to_dict("records"):
            work = f"CCDR, approximate neighbours, {row['points']}, n = {row['n']:,}"
            took = f"{seconds(row['seconds'])}, {megabytes(row['MB'])}, {row['ratio']} × prototype"
            took += f", recall {row['recall']} (prototype: {row['peer recall']})"
            rows.append({"work": work, "ours": took, "goal": row["goal"], "met": row["met"]})
    return pd.DataFrame(rows, columns=["work", "ours", "goal", "met"]).rename(
        columns={"ours": "measured"}
    )


def draw(measured: pd.DataFrame, column: str, label: str, path: Path) -> None:
    """Plot a column against the size, with a log-log panel per work that has several sizes."""
    several = measured.groupby("work", sort=False)["n"].nunique() > 1
    works, across = list(several.index[several]), 4
    down = math.ceil(len(works) / across)
    figure = Figure(figsize=(3.1 * across, 2.9 * down), layout="constrained")
    for place, work in enumerate(works, start=1):
        axes = figure.add_subplot(down, across, place, xscale="log", yscale="log")
        axes.set_title(work, fontsize="medium")
        of_work = measured[measured["work"] == work]
        for (method, rows), marker in zip(
            of_work.groupby("method", sort=False), "osv^", strict=False
        ):
            name = f"{method} (wrong)" if "wrong" in set(rows["wrong"]) else method
            axes.plot(rows["n"], rows[column], marker=marker, markersize=4, label=name)
        sizes = sorted(of_work["n"].unique())
        axes.set_xticks(sizes, [thousands(n) for n in sizes], fontsize="small")
        low, high = of_work[column].min(), of_work[column].max()
        # The axis spans at least a factor of 4, so that small differences look small.
        middle = math.sqrt(low * high)
        axes.set_ylim(min(low / 1.2, middle / 2), max(high * 1.2, middle * 2))
        digits = (1.0, 2.0, 5.0) if high > 10 * low else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
        axes.yaxis.set_major_locator(LogLocator(subs=digits))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.set_xlabel("samples")
        axes.set_ylabel(label if place % across == 1 else "")
        axes.legend(fontsize="x-small")
    with rc_context({"svg.hashsalt": "speed"}):  # A fixed salt makes equal files from equal tables.
        figure.savefig(path, metadata={"Date": None})


def draw_growth(table: pd.DataFrame, path: Path) -> None:
    """Plot the exponents, seconds and megabytes of the methods, one row per method."""
    last = table.groupby("method", sort=False).last()
    last = last.sort_values(["time exponent", "seconds"])
    places = {method: place for place, method in enumerate(last.index)}
    figure = Figure(figsize=(10, 0.24 * len(places) + 1.4), layout="constrained")
    grown, spent, added = figure.subplots(1, 3, sharey=True)
    rows = range(len(places))
    for column, marker, kind in (("time", "o", "time"), ("memory", "d", "memory")):
        grown.plot(last[f"{column} exponent"], rows, marker, markersize=5, label=kind)
    grown.set_xlabel("exponent of n")
    grown.legend(loc="lower right", fontsize="small")
    sizes = sorted(table["n"].unique())
    colours = colormaps["viridis"](np.linspace(0.95, 0, len(sizes)))
    for axes, column, label in ((spent, "seconds", "CPU seconds"), (added, "MB", "megabytes")):
        for n, colour in zip(sizes, colours, strict=True):
            at = table[table["n"] == n]
            y = at["method"].map(places)
            axes.plot(at[column], y, "o", color=colour, markersize=5, label=f"n = {n:,}")
        axes.set_xscale("log")
        axes.set_xlabel(label)
    figure.legend(*spent.get_legend_handles_labels(), loc="outside upper center", ncols=len(sizes))
    grown.set_yticks(rows, places, fontsize="small")
    grown.set_ylim(-0.6, len(places) - 0.4)
    for axes in (grown, spent, added):
        axes.grid(alpha=0.3)
    with rc_context({"svg.hashsalt": "growth"}):
        figure.savefig(path, metadata={"Date": None})


def why_not(tables: Path) -> str:
    """Return the reasons for the goals that no table shows as met."""
    met = {}
    if (tables / "goals.csv").is_file():
        goals = pd.read_csv(tables / "goals.csv", keep_default_na=False)
        for row in goals[goals["goal"] != ""].to_dict("records"):
            work, _, ours = row["work"].partition(": ")
            key = f"{work}, n = {row['n']:,}" + (f": {ours}" if ours else "")
            met[key] = met.get(key, True) and row["met"] == "yes"
    table = others(tables)
    met |= dict(zip(table["work"], table["met"] == "yes", strict=True))
    return "\n".join(
        f"- **{row}.** {reason}" for row, reason in REASONS.items() if not met.get(row, False)
    )


def page(tables: Path, where: str) -> str:
    """Return the page's text; `where` is the path from the page to the tables."""
    machines = tables / MACHINES
    parts = [
        "# Speed and memory, measured",
        "Each fit runs in a separate process on one thread. Runs of `ddr` alternate with runs of "
        "another library (the peer). `benchmarks/checks.py` checks the results of `ddr` and of the "
        "other libraries. Times are the median CPU seconds over the runs. Memory, in megabytes, is "
        "the peak increase in the memory of the process during a fit. Times depend on the machine, "
        "so look at the ratio: `ddr`'s time divided by the time of the other library. "
        f"Figures show each fit's [time]({where}/seconds.svg) and [memory]({where}/memory.svg).",
        "`make bench` runs all benchmarks. `python benchmarks/page.py` generates this page from "
        f"[the tables of the benchmarks]({where}).",
    ]
    if machines.is_file():
        known = pd.read_csv(machines)
        known = known[known["table"].isin(LINKED)].groupby("machine")["table"]
        parts += [
            "The list states on which machine the values of each table were measured. A table "
            "that appears twice in the list has rows from two machines:",
            "\n".join(f"- {machine}; tables: {', '.join(own)}" for machine, own in known),
        ]
    parts += ["## Goals that are not met or not measured", why_not(tables)]
    methods = tables / "methods.csv"
    if methods.is_file():
        measured = pd.read_csv(methods, keep_default_na=False)
        goals = against_goals(measured)
        goals.to_csv(tables / "goals.csv", index=False, lineterminator="\n")
        parts += ["## Methods compared with peers", markdown(compact(goals))]
        there = set(measured["work"])
        if lacking := [work for work in WORKS if work not in there]:
            parts += [f"Not measured this time: {'; '.join(lacking)}."]
        for name, column, label in PICTURES:
            draw(measured, column, label, tables / f"{name}.svg")
    if len(table := others(tables)):
        parts += ["## Runs and commands", markdown(table)]
    if (tables / "growth.csv").is_file():
        draw_growth(pd.read_csv(tables / "growth.csv"), tables / "growth.svg")
        parts += [
            "## How the cost grows",
            "`benchmarks/bench_growth.py` models the time and the memory of each method as powers "
            "of the number of samples; `ddr describe METHOD` prints the exponents of both powers. "
            "`ddr plan` warns about fits that it expects to exceed the time limit or the "
            "memory of the machine.",
            f"![Exponents, seconds and memory by method]({where}/growth.svg)",
        ]
    links = [
        f"- [{name}.csv]({where}/{name}.csv): {what}"
        for name, what in LINKED.items()
        if (tables / f"{name}.csv").is_file()
    ]
    return "\n\n".join([*parts, "## All tables", "\n".join(links)]) + "\n"


def main() -> None:
    tables = folder(options(__doc__).parse_args())
    path = PAGE if tables == RESULTS else tables / PAGE.name
    where = os.path.relpath(tables, path.parent)
    path.write_text(page(tables, where), encoding="utf-8")


if __name__ == "__main__":
    main()
