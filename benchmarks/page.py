"""Make docs/speed.md and its pictures from the tables in results/benchmarks.

    python benchmarks/page.py

No number on the page is typed by hand: `make bench` measures all of them and then runs this.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

RESULTS = Path("results/benchmarks")
PAGE = Path("docs/speed.md")

TABLES = {
    "tuning": "Tuning inside a run against scikit-learn's `GridSearchCV` over a pipeline",
    "interval_coverage": "How often intervals hold the truth, in percent",
    "comparison_errors": "How often `ddr compare` calls two methods different, in percent",
}
"""The tables that are shown as they are, by their file and with their title."""

SCRIPTS = {"interval_coverage": "intervals", "comparison_errors": "comparison"}
"""The scripts whose tables are called otherwise."""


def exponent(n: pd.Series, seconds: pd.Series) -> float:
    """Return the slope of the seconds over the sizes, both logarithmic."""
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def growth(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return a row per work: both methods at the largest size, their ratio and exponents."""
    rows = []
    for work, of_work in sizes.groupby("work", sort=False):
        ours, peer = (of_work[of_work["of"] == role] for role in ("ours", "peer"))
        last, other = ours.iloc[-1], peer.iloc[-1]
        rows.append(
            {
                "work": work,
                "n": last["n"],
                "ours": f"{last['method']}: {last['seconds']:.3g} s, {last['MB']:.0f} MB",
                "beside": f"{other['method']}: {other['seconds']:.3g} s, {other['MB']:.0f} MB",
                "ours / beside": f"{last['seconds'] / other['seconds']:.2g}",
                "grows as n to the": f"{exponent(ours['n'], ours['seconds']):.1f} "
                f"({exponent(peer['n'], peer['seconds']):.1f})",
            }
        )
    return pd.DataFrame(rows)


def draw(sizes: pd.DataFrame, path: Path) -> None:
    """Draw seconds over sizes, a panel per work, both axes logarithmic."""
    works = list(sizes["work"].unique())
    figure = Figure(figsize=(3.2 * len(works), 3.2), layout="constrained")
    for place, work in enumerate(works, start=1):
        axes = figure.add_subplot(1, len(works), place, xscale="log", yscale="log", title=work)
        for method, of_method in sizes[sizes["work"] == work].groupby("method", sort=False):
            axes.plot(of_method["n"], of_method["seconds"], marker="o", label=method)
        axes.set_xlabel("points")
        axes.set_ylabel("CPU seconds" if place == 1 else "")
        axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown, gaps left empty."""
    cells = table.astype(object).where(table.notna(), "")
    lines = [list(map(str, table.columns)), ["---"] * len(table.columns)]
    lines += [[str(cell) for cell in row] for row in cells.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page() -> str:
    """Return the page's text; the pictures are written beside the tables."""
    parts = [
        "# Speed, memory and error rates, measured",
        "Made by `make bench` from [the tables](../results/benchmarks): CPU seconds of one thread, "
        "medians of several runs in which ours and the other took turns. What counts is the ratio: "
        "seconds differ from machine to machine.",
    ]
    sizes = RESULTS / "sizes.csv"
    if sizes.is_file():
        table = pd.read_csv(sizes)
        draw(table, RESULTS / "sizes.svg")
        parts += [
            "## Cost against the number of points",
            "Gaussian classes in 36 dimensions; the exponent of what stands beside is in brackets. "
            "PCA and LDA solve easier problems and stand there as a floor.",
            markdown(growth(table)),
            "![CPU seconds over the number of points](../results/benchmarks/sizes.svg)",
        ]
    for name, title in TABLES.items():
        if (RESULTS / f"{name}.csv").is_file():
            parts += [f"## {title}", markdown(pd.read_csv(RESULTS / f"{name}.csv"))]
            parts += [f"By `benchmarks/bench_{SCRIPTS.get(name, name)}.py`."]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
