"""Compare version 1 of lite, a frozen table, with the present rows in docs/lite_versions.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from tables import with_table

from ddr_cli.core.extras import nothing_fitted
from ddr_cli.suite.benchmark import benchmark_of
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.findings import findings
from ddr_cli.suite.leaderboard import leaderboard
from ddr_cli.suite.remaining import folder_of

PAGE = Path("docs/lite_versions.md")
OLD_ROWS, OLD_FINDINGS = Path("results/lite_1.parquet"), Path("results/lite_1_findings.csv")
RENAMED = {"kernel_approximation_lda": "kernel_lda"}
HOLDS = {True: "holds", False: "the opposite holds", None: "not supported"}


def old_rows() -> pd.DataFrame:
    """Return version 1's rows, with the present names of methods."""
    # Version 1 had no track of training sizes.
    return pd.read_parquet(OLD_ROWS).replace({"method": RENAMED}).assign(train=None)


def of_fewer_splits() -> pd.DataFrame:
    """Return how version 1's leaderboard varies with 1, 2 or 5 of its ten splits."""
    rows = old_rows().query("track == 'inductive'")
    place = rows["split"].astype(str).str.rpartition("-")[2].astype(int)
    whole = leaderboard(rows, classifier="knn").table.set_index("method")
    found = []
    for size in (1, 2, 5, 10):
        for first in range(0, 10, size):
            part = rows[place.between(first, first + size - 1)]
            table = leaderboard(part, classifier="knn").table.set_index("method")
            found.append(
                {
                    "splits": size,
                    "correlation": table["score"].corr(whole["score"], method="spearman"),
                    "score": (table["high"] - table["low"]).median(),
                    "rank": (table["rank_high"] - table["rank_low"]).median(),
                }
            )
    spans = pd.DataFrame(found).groupby("splits").agg(["min", "max"])
    told = {
        "splits": [str(size) for size in spans.index],
        "rank correlation with all ten": _span(spans["correlation"], "{:.3f}"),
        "width of a score's interval": _span(spans["score"], "{:.2f}"),
        "width of a rank's interval": _span(spans["rank"], "{:g}"),
    }
    return pd.DataFrame(told)


def _span(ends: pd.DataFrame, form: str) -> list[str]:
    texts = ends.map(form.format).to_numpy().tolist()
    return [" to ".join(dict.fromkeys(each)) for each in texts]


def ranking(board: Any) -> pd.DataFrame:
    """Return the scores and ranks of the methods, with intervals, as text."""
    table = board.table.set_index("method")
    return pd.DataFrame(
        {
            "score": [f"{r.score:.3f} ({r.low:.2f} to {r.high:.2f})" for r in table.itertuples()],
            "rank": [
                f"{r.place} ({r.rank_low:.0f} to {r.rank_high:.0f})" for r in table.itertuples()
            ],
        },
        table.index,
    )


def tables() -> dict[str, pd.DataFrame]:
    """Return the page's tables by name."""
    with nothing_fitted():
        suite = load_suite("suites/lite.yaml")
        bench = benchmark_of(suite, folder_of(suite, Path("results")))
    board = bench.board(tuned=True)
    assert board is not None
    both = ranking(board).merge(
        ranking(leaderboard(old_rows(), classifier="knn")),
        how="left",
        left_index=True,
        right_index=True,
        suffixes=("", " 1"),
    )
    both = both.fillna("")
    both.columns = ["score, version 2", "rank, version 2", "score, version 1", "rank, version 1"]
    old = pd.read_csv(OLD_FINDINGS).set_index("name")["holds"].astype(str)
    told = []
    for one in findings():
        if one.name in old:
            before = {"True": True, "False": False}.get(old[one.name])
            now = one.told(bench)
            text = "no rows yet" if "no rows" in now.evidence else HOLDS[now.holds]
            told.append((one.sentence, HOLDS[before], text))
    columns = ["finding", "version 1", "version 2"]
    return {
        "methods": both.reset_index(),
        "splits": of_fewer_splits(),
        "findings": pd.DataFrame(told, columns=columns),
    }


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, table in tables().items():
        page = with_table(page, name, table)
    PAGE.write_text(page, encoding="utf-8")
