"""The page of a report, as a single HTML file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.names import method_name, metric_name, number
from ddr_cli.comparison.summary import Summary
from ddr_cli.papers import cells, sentences
from ddr_cli.papers.assess import Assessment
from ddr_cli.papers.claim_tables import glossary_table, reading_table
from ddr_cli.papers.claims import ClaimResult
from ddr_cli.papers.lookup import VIEWS, Judged
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult, time_ratios
from ddr_cli.papers.questions import MethodSelector, Near
from ddr_cli.papers.schema import Part
from ddr_cli.papers.tables import matrix_of
from ddr_cli.report.chart import Chart, on_dark
from ddr_cli.report.own_runs import OwnRun
from ddr_cli.report.page import about, page_environment, ran
from ddr_cli.report.run_embeddings import DrawnEmbedding, drawn_embeddings
from ddr_cli.report.table import Table
from ddr_cli.show.html import table

_GROUPS = 256
_LEVELS = 4095
"""The largest value of the twelve bits of a coordinate, which are finer than a screen's pixels."""

# A verdict has a symbol and a word as well as a colour.
_BADGES = {
    "reproduced": "✓",
    "close": "≈",
    "differs (higher)": "▲",
    "differs (lower)": "▼",
    "differs": "≠",
    "uninformative": "○",
    "calibration": "◇",
    "not testable": "?",
    "not run": "–",
    "not applicable": "·",
    "holds": "✓",
    "fails": "✗",
    "undecided": "~",
    "hold alone": "(✓)",
}


def render_page(
    assessment: Assessment,
    own: Sequence[OwnRun],
    charts: Mapping[str, Chart],
    suites: Sequence[str] = (),
) -> str:
    """Return the HTML of a report, with the figure of each run by its name.

    `suites` are the folders next to the page that contain the pages of suites.
    """
    return (
        page_environment("ddr_cli.papers")
        .get_template("report.html.j2")
        .render(
            badges=_BADGES,
            about=about(assessment.summaries),
            papers=assessment.papers,
            others=own,
            suites=suites,
            charts=charts,
            points=page_points,
            counts=assessment.counts(),
            matrix_of=matrix_of,
            cells=cells,
            sentences=sentences,
            time_ratios=time_ratios,
            glossary=Table(glossary_table(), "The papers' words as thresholds"),
            readings=lambda result: Table(
                reading_table(result), f"{result.paper.short}: interpretations and verdicts"
            ),
            metric_name=metric_name,
            number=number,
            ran=ran,
            html_table=table,
            methods_of=methods_of,
            verdicts_of=verdicts_of,
            rows_of=rows_of,
            places_of=places_of,
        )
    )


# -- what the filters of the page ask for, and where a number comes from ------------------------


def methods_of(entry: NumberResult | MarkResult | ClaimResult) -> list[str]:
    """Return the names of the methods that an entry is about."""
    selectors: Sequence[MethodSelector] = (
        [select for each in entry.parts for select in each.entry.selectors]
        if isinstance(entry, ClaimResult)
        else [entry.entry.select]
    )
    names = [(each.reducer, getattr(each, "classifier", None)) for each in selectors]
    return list(dict.fromkeys(method_name(name) for both in names for name in both if name))


def verdicts_of(entry: Judged[Any, Any]) -> list[str]:
    """Return the verdicts on an entry, each once."""
    return list(dict.fromkeys(entry.through(view).verdict for view in VIEWS))


def rows_of(result: NumberResult) -> list[str]:
    """Return the rows of the trial logs that a number of ours is computed from."""
    found = []
    for view in VIEWS:
        row = result.through(view).row
        if row is not None:
            ids = list(row.trials["trial_id"])
            more = f" to {ids[-1]} ({len(ids)} rows)" if len(ids) > 1 else ""
            found.append(f"{row.summary.run.name}/trials.csv, trial {ids[0]}{more}")
    return list(dict.fromkeys(found))


def places_of(part: Part, spec: str) -> list[str]:
    """Return the rows that a sub-claim uses, in the terms of the spec."""
    found = []
    for select in part.selectors:
        words = [select.reducer, f"“{select.label}”" if select.label else "", select.classifier]
        for name, value in select.params.items():
            text = f"about {value.near:g}" if isinstance(value, Near) else value
            words.append(f"{name} = {text}")
        words.append(f"along {part.along}" if part.along else "")
        found.append(f"{select.spec or spec}: {', '.join(filter(None, words))} ({part.metric})")
    return list(dict.fromkeys(found))


# -- the samples of embeddings, for linked scatter plots ------------------------------------------


def page_points(summary: Summary) -> list[dict[str, Any]]:
    """Return groups of planes that show the same samples, for the page's script.

    In a group, ``groups`` has the names of classes or sub-classes with their colours, ``y`` a
    sample's index among them, and ``test`` whether it is a test sample; ``at`` of a plane packs two
    coordinates into three bytes. Embeddings with another number of dimensions are left out.
    """
    shared: dict[tuple[Any, ...], list[DrawnEmbedding]] = {}
    for each in drawn_embeddings(summary):
        if each.dimension == 2:
            shared.setdefault((each.kept.split_hash, each.kept.y), []).append(each)
    few = (planes for planes in shared.values() if planes[0].samples["code"].max() < _GROUPS)
    return [_group(planes) for planes in few]


def _group(planes: Sequence[DrawnEmbedding]) -> dict[str, Any]:
    samples = planes[0].samples
    groups = samples.sort_values("code").drop_duplicates("code")
    codes = samples["code"].rank(method="dense").astype(int) - 1
    return {
        "groups": [
            [group, colour, on_dark(colour)]
            for group, colour in zip(groups["group"], groups["colour"], strict=True)
        ],
        "y": _packed(codes.to_numpy()),
        "test": _packed(samples["test"].to_numpy()),
        "planes": [[each.title, ", ".join(each.scores), _coordinates(each)] for each in planes],
    }


def _coordinates(embedding: DrawnEmbedding) -> str:
    points = embedding.coordinates
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    x, y = np.round(scaled * _LEVELS).astype(np.int64).T
    return _packed(np.column_stack([x >> 4, (x & 15) << 4 | y >> 8, y & 255]))


def _packed(values: NDArray[Any]) -> str:
    return b64encode(values.astype(np.uint8).tobytes()).decode()
