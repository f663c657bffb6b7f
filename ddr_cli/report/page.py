"""The page of a report: one HTML file that holds everything it shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ddr_cli.report.assess import Assessment, PaperResult
from ddr_cli.report.claims import ClaimResult
from ddr_cli.report.names import number, setting_text
from ddr_cli.report.select import OWN, RESPLITS
from ddr_cli.report.summary import Summary
from ddr_cli.report.tables import described, number_table, ours_text, printed_text

NUMBER_VERDICTS = ("reproduced", "better", "worse", "unverifiable", "not run")
CLAIM_VERDICTS = ("holds", "fails", "not run")

# A verdict is told by sign and word as well as by colour.
_SIGNS = {
    "reproduced": "✓",
    "better": "▲",
    "worse": "▼",
    "unverifiable": "?",
    "not run": "–",
    "holds": "✓",
    "fails": "✗",
}


@dataclass(frozen=True)
class Picture:
    """A figure as SVG text, and the name that makes its ids its own on the page."""

    name: str
    svg: str

    def inline(self, description: str) -> Markup:
        """Return the ``<svg>`` element, its ids prefixed, described for those who can't see it."""
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
        number_verdicts=NUMBER_VERDICTS,
        claim_verdicts=CLAIM_VERDICTS,
        views=(OWN, RESPLITS),
        described=described,
        printed_text=printed_text,
        ours_text=ours_text,
        number_table=number_table,
        outcome=outcome,
        differences=differences,
        summary_table=summary_table,
        ran=ran,
    )


def badge(verdict: str) -> Markup:
    """Return a verdict as a coloured word with its sign."""
    kind = verdict.replace(" ", "-")
    return Markup('<span class="verdict {}">{} {}</span>').format(kind, _SIGNS[verdict], verdict)


def outcome(result: PaperResult) -> list[str]:
    """Return what came out of a paper, in a sentence or two per view."""
    sentences = []
    for view, where in (("own", "On the paper's own split"), ("resplits", "Over re-splits")):
        numbers, claims = result.counts(view), result.claim_counts(view)
        judged = sum(numbers[name] for name in ("reproduced", "better", "worse"))
        decided = claims["holds"] + claims["fails"]
        if not judged and not decided:
            continue
        parts = []
        if judged:
            told = [f"{numbers[name]} {name}" for name in NUMBER_VERDICTS[:3] if numbers[name]]
            noun = "printed number" if judged == 1 else "printed numbers"
            parts.append(f"of {judged} {noun}, {_listed(told)}")
        if decided:
            noun = "claim" if decided == 1 else "claims"
            parts.append(f"{claims['holds']} of {decided} {noun} hold")
        sentences.append(f"{where}, {'; '.join(parts)}.")
    missing = [item.artefact.where for item in result.artefacts if not item.has_results]
    if missing:
        sentences.append(f"Not run yet: {', '.join(missing)}.")
    return sentences


def differences(result: PaperResult) -> list[tuple[str, str]]:
    """Return what differs from the paper or between the two views: a title and the reason."""
    found = []
    for item in result.artefacts:
        for each in item.numbers:
            name = f"{item.artefact.where}: {described(item.artefact, each)}"
            metric = each.printed.metric
            told = f"printed {printed_text(each)}; ours {ours_text(each.own, metric)}"
            if each.own.verdict == "worse":
                why = each.printed.remark or "We know no reason yet."
                found.append((name, f"{told} on the paper's split. {why}"))
            elif each.resplits.verdict == "worse":
                over = ours_text(each.resplits, metric)
                found.append((name, f"{told} on the paper's split, but {over} over re-splits."))
    found += [
        (_first_sentence(claim), _claim_difference(claim))
        for claim in result.claims
        if claim.differs or "fails" in (claim.own.verdict, claim.resplits.verdict)
    ]
    return found


def _first_sentence(result: ClaimResult) -> str:
    return f"{result.claim.where}: {' '.join(result.claim.sentence.split())}"


def _claim_difference(result: ClaimResult) -> str:
    claim, own, over = result.claim, result.own, result.resplits
    if "not run" in (own.verdict, over.verdict):
        ran = own if own.verdict != "not run" else over
        text = f"{ran.verdict.capitalize()}: {ran.detail}."
    else:
        judged = (
            f"{own.verdict.capitalize()} on the paper's own split, {over.verdict} over re-splits."
            if result.differs
            else f"{own.verdict.capitalize()} on both."
        )
        text = f"{judged} The paper's split: {own.detail}. Re-splits: {over.detail}."
    return f"{text} {claim.remark}" if claim.remark else text


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


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
                str(metric),
                f"{row['n']} of {row['planned']}" if row["n"] < row["planned"] else str(row["n"]),
                number(row["mean"], metric),
                number(row["sd"], metric),
                interval,
            ]
        )
    return heads, lines
