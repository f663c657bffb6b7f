"""The page of a report: one HTML file that holds everything it shows."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ddr_cli.report.assess import Assessment
from ddr_cli.report.counts import counts_of
from ddr_cli.report.differences import differences, outcome, told_apart
from ddr_cli.report.matrices import legend, matrix_of
from ddr_cli.report.names import metric_name, number, setting_text
from ddr_cli.report.summary import Summary
from ddr_cli.report.tables import described, ours_text, printed_text, shown_views, time_text
from ddr_cli.report.times import times_of

# A verdict is told by sign and word as well as by colour.
_SIGNS = {
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
class Picture:
    """A figure in both its forms, and the name that makes its ids its own on the page."""

    name: str
    svg: str
    png: bytes

    def inline(self, description: str) -> Markup:
        """Return the figure as an element, described for those who can't see it.

        It is drawn as SVG, its ids prefixed, unless it has so many points that its PNG is much
        smaller.
        """
        image = b64encode(self.png).decode()
        if len(self.svg) > _SVG_LIMIT and len(image) < len(self.svg):
            label = Markup.escape(description)
            return Markup(f'<img alt="{label}" src="data:image/png;base64,{image}">')
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{self.name}-", body)
        label = Markup.escape(description)
        return Markup(body.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))


def render_page(assessment: Assessment, pictures: Mapping[str, Picture]) -> str:
    """Return the HTML of a report.

    Parameters
    ----------
    assessment : Assessment
        What is shown.
    pictures : mapping of str to Picture
        The figure of each run, by the run's name.
    """
    environment = Environment(
        loader=PackageLoader("ddr_cli.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["badge"] = badge
    template = environment.get_template("report.html.j2")
    return template.render(
        papers=assessment.papers,
        others=assessment.others,
        pictures=pictures,
        counts=counts_of(assessment),
        described=described,
        printed_text=printed_text,
        ours_text=ours_text,
        shown_views=shown_views,
        matrix_of=matrix_of,
        mark_legend=legend(),
        times_of=times_of,
        time_text=time_text,
        outcome=outcome,
        told_apart=told_apart,
        differences=differences,
        summary_table=summary_table,
        ran=ran,
    )


def badge(verdict: str) -> Markup:
    """Return a verdict as a coloured word with its sign."""
    kind = verdict.replace(" ", "-")
    return Markup('<span class="verdict {}">{} {}</span>').format(kind, _SIGNS[verdict], verdict)


def ran(summary: Summary) -> str:
    """Return how far a run is, what it took and on which data."""
    manifest = summary.run.manifest
    parts = [summary.run.progress]
    seconds = sum(session.get("cpu_seconds") or 0 for session in manifest["sessions"])
    if seconds:
        parts.append(f"{seconds / 60:.1f} minutes of CPU")
    data = manifest.get("data", {})
    if data.get("fingerprint"):
        # The first digits are enough to tell two versions of the data apart.
        parts.append(f"{data.get('name', 'data')} {data['fingerprint'][:19]}")
    return " · ".join(parts)


def summary_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of a run's summary, as a reader wants them."""
    heads = ["reducer", "classifier", "setting", "splits", "metric", "n", "mean", "sd", "interval"]
    lines = []
    for index, row in summary.rows.iterrows():
        metric = row["metric"]
        setting = setting_text(summary.setting(int(index)))  # type: ignore[call-overload]  # a RangeIndex
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
