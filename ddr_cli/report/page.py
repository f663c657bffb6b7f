"""The page of a report, as one HTML file that needs no other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

import ddr_cli
from ddr_cli.comparison.names import method_name, metric_name, number
from ddr_cli.comparison.summary import Row, Summary
from ddr_cli.papers.schema import MethodSelector, Part
from ddr_cli.report.chart import Chart, colour_rules
from ddr_cli.report.claim_tables import fixed_text, glossary_table, reading_table, threshold_text
from ddr_cli.report.own_runs import OwnRun
from ddr_cli.report.points import page_points
from ddr_cli.report.sentences import both_verdicts, differences, glance, outcome, shares
from ddr_cli.report.table import Table
from ddr_cli.report.tables import (
    SIGN_LEGEND,
    described,
    matrix_of,
    notes_of,
    ours_text,
    printed_text,
    reason_text,
    shown_views,
    time_text,
    verdict_text,
)
from ddr_cli.verdicts.assess import Assessment
from ddr_cli.verdicts.claims import ClaimResult
from ddr_cli.verdicts.printed import MarkResult, NumberResult, time_ratios
from ddr_cli.verdicts.rows import VIEWS

PAGE = "index.html"

# A verdict is told by sign and word as well as by colour.
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


def slug(text: str) -> str:
    """Return a text as part of an address."""
    return re.sub(r"\W+", "-", text).strip("-")


def short(value: float) -> str:
    """Return a number in three digits, as the page's script writes it."""
    return "–" if math.isnan(value) else f"{float(f'{value:.3g}'):g}"


def page_environment(*packages: str) -> Environment:
    """Return the environment of these packages' templates and the report's; it escapes all."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "ddr_cli.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["slug"] = slug
    environment.globals["badges"] = _BADGES
    return environment


def render_page(
    assessment: Assessment,
    own: Sequence[OwnRun],
    charts: Mapping[str, Chart],
    suites: Sequence[str] = (),
) -> str:
    """Return the HTML of a report, with the figure of each run by its name.

    `suites` are the folders beside the page that hold a suite's own pages.
    """
    summaries = {
        summary.run.name: summary
        for items in (
            *(item.summaries for result in assessment.papers for item in result.artefacts),
            assessment.others,
        )
        for summary in items
    }
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            about=about([*summaries.values()]),
            papers=assessment.papers,
            others=own,
            suites=suites,
            charts=charts,
            colour_rules=colour_rules(charts.values()),
            points=page_points,
            counts=assessment.counts(),
            described=described,
            printed_text=printed_text,
            ours_text=ours_text,
            shown_views=shown_views,
            matrix_of=matrix_of,
            sign_legend=SIGN_LEGEND,
            time_ratios=time_ratios,
            time_text=time_text,
            verdict_text=verdict_text,
            notes_of=notes_of,
            reason_text=reason_text,
            threshold_text=threshold_text,
            fixed_text=fixed_text,
            both_verdicts=both_verdicts,
            glossary=Table(glossary_table(), "What the papers' words mean in numbers"),
            readings=lambda result: Table(
                reading_table(result), f"{result.paper.short}: readings and verdicts"
            ),
            shares=shares,
            glance=glance,
            outcome=outcome,
            differences=differences,
            summary_rows=summary_rows,
            metric_name=metric_name,
            number=number,
            ran=ran,
            methods_of=methods_of,
            verdicts_of=verdicts_of,
            rows_of=rows_of,
            places_of=places_of,
        )
    )


@dataclass(frozen=True)
class About:
    """When the results of a page were made, and by which code."""

    runs: int
    trials: int
    first: str
    last: str
    version: str
    commit: str


def about(summaries: Sequence[Summary]) -> About:
    """Return what the manifests say of date, version and commit; of the latest run where many do.

    It is nothing that the clock or the working copy says: the same journals give the same page.
    """
    sessions = sorted(
        (session.finished or session.started, summary.run.name, session.environment)
        for summary in summaries
        for session in summary.run.manifest.sessions
    )
    runs = {summary.run.name: summary.run for summary in summaries}
    commit, version = "", ddr_cli.__version__
    if sessions:
        _, name, place = sessions[-1]
        environment = runs[name].manifest.environments[place]
        version = environment.versions.get("ddr") or version
        git = environment.git or {}
        commit = str(git.get("commit", ""))[:12] + (" with changes" if git.get("dirty") else "")
    days = [day[:10] for day, *_ in sessions] or [""]
    trials = sum(len(run.trials) for run in runs.values())
    return About(len(runs), trials, days[0], days[-1], version, commit)


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


def summary_rows(summary: Summary) -> list[Row]:
    """Return the rows of a run's summary."""
    return [Row(summary, int(index)) for index in range(len(summary.rows))]


# -- what the filters of the page ask for, and where a number comes from ------------------------


def methods_of(entry: NumberResult | MarkResult | ClaimResult) -> list[str]:
    """Return the names of the methods that an entry speaks of."""
    selectors: list[MethodSelector | None]
    if isinstance(entry, ClaimResult):
        parts = [each.part for each in entry.parts]
        selectors = [select for part in parts for select in (part.select, part.than)]
    else:
        selectors = [entry.entry.select]
    names = [
        method_name(name)
        for select in selectors
        if select is not None
        for name in (select.reducer, getattr(select, "classifier", None))
        if name
    ]
    return list(dict.fromkeys(names))


def verdicts_of(entry: Any) -> list[str]:
    """Return the verdicts on an entry, each once."""
    return list(dict.fromkeys(getattr(entry, view).verdict for view in VIEWS))


def rows_of(result: NumberResult) -> list[str]:
    """Return which rows of which journals a number of ours is made of."""
    found = []
    for view in VIEWS:
        row = getattr(result, view).row
        if row is not None:
            ids = list(row.trials["trial_id"])
            more = f" to {ids[-1]} ({len(ids)} rows)" if len(ids) > 1 else ""
            found.append(f"{row.summary.run.name}/trials.csv, trial {ids[0]}{more}")
    return list(dict.fromkeys(found))


def places_of(part: Part, spec: str) -> list[str]:
    """Return where the rows of a part of a claim stand, in words that a spec has."""
    found = []
    for select in (part.select, part.than):
        if select is not None:
            params = [f"{name} = {_value(value)}" for name, value in select.params.items()]
            words = [select.reducer, *([f"“{select.label}”"] if select.label else [])]
            words += [select.classifier, *params, *([f"along {part.along}"] if part.along else [])]
            found.append(f"{select.spec or spec}: {', '.join(words)} ({part.metric})")
    return list(dict.fromkeys(found))


def _value(value: Any) -> str:
    return f"about {value.near:g}" if hasattr(value, "near") else str(value)
