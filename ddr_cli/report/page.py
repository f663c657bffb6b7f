"""Common code of the report pages: the templates, and facts from the runs' manifests."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

import ddr_cli
from ddr_cli.comparison.summary import Summary
from ddr_cli.core.registry import spec_word
from ddr_cli.report.chart import Chart
from ddr_cli.show import html

PAGE = "index.html"


def slug(text: str) -> str:
    """Return a text as part of a URL."""
    return re.sub(r"\W+", "-", text).strip("-")


def short(value: float) -> str:
    """Return a number with three digits, as the page's script writes it."""
    return "–" if math.isnan(value) else f"{float(f'{value:.3g}'):g}"


def page_environment(*packages: str) -> Environment:
    """Return the environment of these packages' templates and of the pages'."""
    environment = html.page_environment(*packages)
    environment.filters["slug"] = slug
    environment.filters["spec_word"] = spec_word
    return environment


def drawing(chart: Chart, name: str) -> Markup:
    """Return a figure's drawing for a page; `name` is its title if it has none."""
    title = chart.title or name
    return Markup(
        '<svg role="img" aria-labelledby="{0}-t {0}-d" viewBox="0 0 {1:g} {2:g}" '
        'style="--w:{1:.0f}px"><title id="{0}-t">{3}</title><desc id="{0}-d">{4}</desc>{5}</svg>'
    ).format(
        chart.name, chart.width, chart.height, title, chart.description or title, Markup(chart.body)
    )


def about(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return the date and the code version of a page's results; of the latest run, if several.

    It does not depend on the clock or the working copy: the same journals give the same page.
    """
    runs = {summary.run.name: summary.run for summary in summaries}
    sessions = sorted(
        (session.finished or session.started, name, session.environment)
        for name, run in runs.items()
        for session in run.manifest.sessions
    )
    commit, version = "", ddr_cli.__version__
    if sessions:
        _, name, place = sessions[-1]
        environment = runs[name].manifest.environments[place]
        version = environment.versions.get("ddr") or version
        git = environment.git or {}
        commit = str(git.get("commit", ""))[:12] + (" with changes" if git.get("dirty") else "")
    days = [day[:10] for day, *_ in sessions] or [""]
    trials = sum(len(run.trials) for run in runs.values())
    made = {"first": days[0], "last": days[-1], "version": version, "commit": commit}
    return {"runs": len(runs), "trials": trials, **made}
