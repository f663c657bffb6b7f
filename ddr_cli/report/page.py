"""The page of a report: one HTML file that holds everything it shows."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from ddr_cli.comparison.names import metric_name, number
from ddr_cli.comparison.summary import Row, Summary
from ddr_cli.report.differences import differences, outcome
from ddr_cli.report.tables import (
    SIGN_LEGEND,
    described,
    matrix_of,
    ours_text,
    printed_text,
    shown_views,
    time_text,
)
from ddr_cli.verdicts.assess import Assessment
from ddr_cli.verdicts.printed import time_ratios

# A verdict is told by sign and word as well as by colour.
_BADGES = {
    "reproduced": "✓",
    "better": "▲",
    "worse": "▼",
    "differs": "≠",
    "unverifiable": "?",
    "not run": "–",
    "not applicable": "·",
    "holds": "✓",
    "fails": "✗",
    "undecided": "~",
}


_SVG_LIMIT = 100_000  # characters from which a figure is shown as PNG, if that is smaller


@dataclass(frozen=True)
class PageFigure:
    """A run's figure as the page shows it: SVG, or PNG where so many points make it far smaller.

    `svg` is what follows ``<svg ``, with ids of its own on the page; `png` is in base 64.
    """

    svg: str | None
    png: str

    @classmethod
    def of(cls, name: str, svg: str, png: bytes) -> PageFigure:
        """Return the figure of the run called `name`."""
        image = b64encode(png).decode()
        if len(svg) > _SVG_LIMIT and len(image) < len(svg):
            return cls(None, image)
        body = svg[svg.index("<svg ") + len("<svg ") :]
        return cls(re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", body), image)


def render_page(assessment: Assessment, pictures: Mapping[str, PageFigure]) -> str:
    """Return the HTML of a report, with the figure of each run by its name."""
    environment = Environment(
        loader=PackageLoader("ddr_cli.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    return template.render(
        papers=assessment.papers,
        others=assessment.others,
        pictures=pictures,
        badges=_BADGES,
        counts=assessment.counts(),
        described=described,
        printed_text=printed_text,
        ours_text=ours_text,
        shown_views=shown_views,
        matrix_of=matrix_of,
        sign_legend=SIGN_LEGEND,
        time_ratios=time_ratios,
        time_text=time_text,
        outcome=outcome,
        differences=differences,
        summary_table=summary_table,
        ran=ran,
    )


def ran(summary: Summary) -> str:
    """Return how far a run is, what it took and on which data."""
    manifest = summary.run.manifest
    parts = [summary.run.progress]
    seconds = sum(session.cpu_seconds for session in manifest.sessions)
    if seconds:
        parts.append(f"{seconds / 60:.1f} minutes of CPU")
    data = manifest.data
    if data is not None:
        # The first digits are enough to tell two versions of the data apart.
        parts.append(f"{data.name} {data.fingerprint[:19]}")
    return " · ".join(parts)


def summary_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of a run's summary, as a reader wants them."""
    heads = ["reducer", "classifier", "setting", "splits", "metric", "n", "mean", "sd", "interval"]
    lines = []
    for index, row in summary.rows.iterrows():
        metric = row["metric"]
        setting = Row(summary, int(index)).setting  # type: ignore[call-overload]  # a RangeIndex
        interval = (
            ""
            if pd.isna(row["low"])
            else f"{number(row['low'], metric, unit=False)} to {number(row['high'], metric)}"
        )
        lines.append(
            [
                str(row["reducer_label"]),
                str(row["classifier_label"]),
                setting,
                str(row["split"]),
                metric_name(str(metric)),
                f"{row['n']} of {row['planned']}" if row["n"] < row["planned"] else str(row["n"]),
                number(row["mean"], metric),
                number(row["sd"], metric),
                interval,
            ]
        )
    return heads, lines
