"""The tops of suites' leaderboards, as the report's page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ddr_cli.comparison.names import method_name, number
from ddr_cli.core.atomic import clear_messages
from ddr_cli.report.page import PAGE, short, slug
from ddr_cli.spec.suite import FOLDER

LEADERBOARD = "leaderboard.csv"


@dataclass(frozen=True)
class Top:
    """The first lines of a suite's leaderboard, and the page that has all of it."""

    title: str
    what: str
    page: str
    rows: tuple[dict[str, str], ...]


def suite_tops(results: Path, most: int = 5) -> list[Top]:
    """Return the tops of the leaderboards that `write_benchmark` has written below a folder."""
    found = []
    for path in sorted((results / "report").glob(f"{FOLDER}*/{LEADERBOARD}")):
        if not (path.parent / PAGE).exists():
            continue
        with clear_messages(path):
            table = pd.read_csv(path)
        first = table.iloc[0]
        how = "tuned" if first["tuned"] else "at their defaults"
        what = f"{len(table)} methods, {how}, on {first['datasets']} data sets"
        what += f" ({first['track']}, {method_name(first['classifier'])})"
        rows = tuple(
            {
                "place": str(row["place"]),
                "method": method_name(str(row["method"])),
                "page": f"{path.parent.name}/methods/{slug(str(row['method']))}.html",
                "score": f"{row['score']:.3f}",
                "interval": f"{row['low']:.2f} to {row['high']:.2f}",
                "mean": number(row["mean"], str(row["metric"])),
                "seconds": short(row["seconds"]),
            }
            for row in table.head(most).to_dict("records")
        )
        found.append(Top(str(first["title"]), what, f"{path.parent.name}/{PAGE}", rows))
    return found
