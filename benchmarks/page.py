"""Make docs/speed.md and its pictures from the tables in results/benchmarks.

    python benchmarks/page.py [--out FOLDER] [--quick]

No number of a table is typed by hand: `make bench` measures all of them and then runs this; why a
goal is not met stands in `reasons.py`. With `--quick`, or of another folder's tables, the page is
made beside these.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from reasons import REASONS
from tables import RESULTS, against_goals, folder, markdown, options
from works import WORKS

PAGE = Path("docs/speed.md")

TABLES = {
    "engine": ("engine", "Overhead of a run"),
    "commands": ("commands", "CPU seconds of the commands"),
    "scale": ("scale", "Approximate neighbours and subsampling in CCDR"),
    "ccdr_solver": ("ccdr_solver", "Eigensolvers for the graph of CCDR, CPU seconds"),
    "memory": ("memory", "Peak memory of whole runs, all processes together"),
    "tuning": ("tuning", "Tuning in a run compared with scikit-learn's `GridSearchCV`"),
    "faults": ("faults", "Faults injected into runs: lost, wrong and duplicated rows"),
    "interval_coverage": ("intervals", "Coverage of intervals, in percent"),
    "comparison_errors": (
        "comparison",
        "How often `ddr compare` reports a difference, in percent",
    ),
}
"""The tables that are shown as they are, by their file: their script and their title."""

PICTURES = (("seconds", "seconds", "CPU seconds"), ("memory", "MB", "megabytes added"))


def seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 100 else f"{value:,.0f} s"


def megabytes(value: float) -> str:
    return f"{value:,.0f} MB"


def thousands(n: int) -> str:
    return f"{n:g}" if n < 1000 else f"{n / 1000:.3g}k" if n < 10**6 else f"{n / 10**6:g}M"


def growth(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}"


def compact(goals: pd.DataFrame) -> pd.DataFrame:
    """Return the table of goals in few columns."""
    rows = []
    for row in goals.to_dict("records"):
        has_peer = isinstance(row.get("peer"), str)
        peer = f"{row['peer']}: {seconds(row['peer seconds'])}" if has_peer else ""
        if has_peer:
            peer += f", {megabytes(row['peer MB'])}"
            peer += " (**wrong**)" if row["peer wrong"] == "wrong" else ""
        exponents = [row["exponent"], *([row["peer exponent"]] if has_peer else [])]
        answers = [row["answer"], *([row["peer answer"]] if has_peer else [])]
        rows.append(
            {
                "work": row["work"],
                "n × d": f"{row['n']:,} × {row['d']}",
                "ours": f"{seconds(row['seconds'])}, {megabytes(row['MB'])}",
                "peer": peer,
                "ratio": f"{row['ratio']:.2g}" if has_peer else "",
                "exponents": " / ".join(growth(one) for one in exponents).strip(" /"),
                "answers": " / ".join(answers).strip(" /"),
                "goal": row["goal"],
                "met": row["met"],
                "runs": row["runs"],
            }
        )
    return pd.DataFrame(rows)


def draw(measured: pd.DataFrame, column: str, label: str, path: Path) -> None:
    """Draw a column over the sizes, a panel per work of several, all axes logarithmic."""
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
        # An axis that spans less than a factor of 4 would make much of differences that are none.
        middle = math.sqrt(low * high)
        axes.set_ylim(min(low / 1.2, middle / 2), max(high * 1.2, middle * 2))
        digits = (1.0, 2.0, 5.0) if high > 10 * low else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
        axes.yaxis.set_major_locator(LogLocator(subs=digits))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.set_xlabel("points")
        axes.set_ylabel(label if place % across == 1 else "")
        axes.legend(fontsize="x-small")
    with rc_context({"svg.hashsalt": "speed"}):  # The same table makes the same picture.
        figure.savefig(path, metadata={"Date": None})


def why_not(tables: Path) -> str:
    """Return the reasons of the goals that no table shows as met."""
    met = {}
    if (tables / "goals.csv").is_file():
        goals = pd.read_csv(tables / "goals.csv", keep_default_na=False)
        for row in goals[goals["goal"] != ""].to_dict("records"):
            work, _, ours = row["work"].partition(": ")
            key = f"{work}, n = {row['n']:,}" + (f": {ours}" if ours else "")
            met[key] = met.get(key, True) and row["met"] == "yes"
    if (tables / "engine.csv").is_file():
        engine = pd.read_csv(tables / "engine.csv")
        met |= dict(zip(engine["work"], engine["met"] == "yes", strict=True))
    return "\n".join(
        f"- **{row}.** {reason}" for row, reason in REASONS.items() if not met.get(row, False)
    )


def page(tables: Path, beside: str) -> str:
    """Return the page's text; `beside` is where it finds the pictures."""
    parts = [
        "# Speed and memory, measured",
        f"`make bench` generates this page from [these tables]({beside}). Each fit runs in a "
        "separate process on one thread; fits of `ddr` and of the peer alternate. The first number "
        "is the median of the CPU seconds over the given number of runs, the second the peak of "
        "the memory that the fit adds. Seconds depend on the machine; compare the ratios. The "
        "exponents (ours / peer) describe how time grows with n, fitted over all sizes. "
        "`benchmarks/checks.py` checks each answer against the definition of the method.",
    ]
    methods = tables / "methods.csv"
    if methods.is_file():
        measured = pd.read_csv(methods, keep_default_na=False)
        goals = against_goals(measured)
        goals.to_csv(tables / "goals.csv", index=False, lineterminator="\n")
        parts += ["## Methods, peers and goals", markdown(compact(goals))]
        there = set(measured["work"])
        if lacking := [work for work in WORKS if work not in there]:
            parts += [f"Not measured this time: {'; '.join(lacking)}."]
        for name, column, label in PICTURES:
            draw(measured, column, label, tables / f"{name}.svg")
            parts += [f"![{label} over the number of samples]({beside}/{name}.svg)"]
    for name, (script, title) in TABLES.items():
        if (tables / f"{name}.csv").is_file():
            table = pd.read_csv(tables / f"{name}.csv", dtype=str, keep_default_na=False)
            parts += [f"## {title}", markdown(table), f"By `benchmarks/bench_{script}.py`."]
            if (tables / f"{name}.svg").is_file():
                parts += [f"![{title}]({beside}/{name}.svg)"]
    parts += ["## Goals that were not met or not measured", why_not(tables)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    tables = folder(options(__doc__).parse_args())
    path = PAGE if tables == RESULTS else tables / PAGE.name
    beside = os.path.relpath(tables, path.parent)
    path.write_text(page(tables, beside), encoding="utf-8")


if __name__ == "__main__":
    main()
