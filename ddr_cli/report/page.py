"""Common code of the report pages: the templates, and facts from the runs' manifests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

import ddr_cli
from ddr_cli.comparison.summary import Summary
from ddr_cli.report.chart import Chart

PAGE = "index.html"


def short(value: float) -> str:
    """Return a number with three digits, as the page's script writes it."""
    return "–" if math.isnan(value) else f"{float(f'{value:.3g}'):g}"


def drawing(chart: Chart, name: str) -> Markup:
    """Return a figure's drawing for a page; `name` is its title if it has none."""
    title = chart.title or name
    return Markup(
        '<svg role="img" aria-labelledby="{0}-t {0}-d" viewBox="0 0 {1:g} {2:g}" '
        'style="--w:{1:.0f}px"><title id="{0}-t">{3}</title><desc id="{0}-d">{4}</desc>{5}</svg>'
    ).format(
        chart.name, chart.width, chart.height, title, chart.description or title, Markup(chart.body)
    )


def about(summaries: Sequence[Summary]) -> str:
    """Return the size, the days and the code version of a page's results; of the latest run.

    It does not depend on the clock or the working copy: the same journals give the same page.
    """
    runs = {summary.run.name: summary.run for summary in summaries}
    sessions = sorted(
        (session.finished or session.started, name, session.environment)
        for name, run in runs.items()
        for session in run.manifest.sessions
    )
    trials = sum(len(run.trials) for run in runs.values())
    facts = [f"{len(runs)} runs, {trials:,} trials"]
    version, git = ddr_cli.__version__, {}
    if sessions:
        _, name, place = sessions[-1]
        environment = runs[name].manifest.environments[place]
        version, git = environment.versions.get("ddr") or version, environment.git or {}
        days = (sessions[0][0][:10], sessions[-1][0][:10])
        facts.append(f"results of {' to '.join(dict.fromkeys(days))}")
    facts.append(f"ddr {version}")
    if commit := git.get("commit"):
        facts.append(f"commit {str(commit)[:12]}{' with changes' if git.get('dirty') else ''}")
    return " · ".join(facts)
