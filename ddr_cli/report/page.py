"""The page of a report: what came out and what differs in sentences, as one HTML file."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined

from ddr_cli.comparison.names import metric_name, number
from ddr_cli.comparison.summary import Row, Summary
from ddr_cli.papers.schema import Claim, PrintedNumber, TableMark
from ddr_cli.report.claim_tables import fixed_text, glossary_table, reading_table, threshold_text
from ddr_cli.report.own_runs import OwnRun
from ddr_cli.report.tables import (
    SIGN_LEGEND,
    described,
    matrix_of,
    notes_of,
    our_words,
    ours_text,
    printed_text,
    reason_text,
    shown_views,
    time_text,
    verdict_text,
)
from ddr_cli.verdicts.assess import ALONE, ArtefactResult, Assessment, PaperResult
from ddr_cli.verdicts.claims import DECIDED, ClaimResult, PartResult
from ddr_cli.verdicts.printed import MarkResult, NumberResult, time_ratios
from ddr_cli.verdicts.rows import View

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


_SVG_LIMIT = 100_000  # characters from which a figure is shown as PNG, if that is smaller


def page_figure(name: str, svg: str, png: bytes) -> dict[str, str]:
    """Return the figure of the run called `name` for the template.

    It is ``svg``, what follows ``<svg ``, with ids of its own on the page; or ``png`` in base 64,
    where so many points make that far smaller.
    """
    image = b64encode(png).decode()
    if len(svg) > _SVG_LIMIT and len(image) < len(svg):
        return {"png": image}
    body = svg[svg.index("<svg ") + len("<svg ") :]
    # A folder may be called anything, and this is put into the page as it is.
    own = "f" + sha256(os.fsencode(name)).hexdigest()[:12] if re.search(r"[^\w.-]", name) else name
    return {"svg": re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{own}-", body)}


def render_page(
    assessment: Assessment, own: Sequence[OwnRun], pictures: Mapping[str, Mapping[str, str]]
) -> str:
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
        others=own,
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
        verdict_text=verdict_text,
        notes_of=notes_of,
        threshold_text=threshold_text,
        fixed_text=fixed_text,
        glossary=glossary_table().to_dict("records"),
        readings=lambda result: reading_table(result).to_dict("records"),
        outcome=outcome,
        differences=differences,
        summary_rows=summary_rows,
        metric_name=metric_name,
        number=number,
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


def summary_rows(summary: Summary) -> list[Row]:
    """Return the rows of a run's summary."""
    return [Row(summary, int(index)) for index in range(len(summary.rows))]


# -- what came out of a paper and what differs from it, in sentences --------------------------


_MISSED = ("differs (higher)", "differs (lower)", "differs", "uninformative")
JUDGED = ("reproduced", "close", *_MISSED)
"""The verdicts that say how ours stands to a printed number."""


def outcome(result: PaperResult) -> list[str]:
    """Return what came out of a paper, in a sentence or two per view."""
    sentences = []
    views: tuple[tuple[View, str], ...]
    views = (("own", "In the paper's own setting"), ("resplits", "Over re-splits"))
    for view, where in views:
        numbers, claims = result.counts(view), result.claim_counts(view)
        judged = sum(numbers[name] for name in JUDGED)
        decided = sum(claims[name] for name in DECIDED)
        if not judged and not decided:
            continue
        parts = []
        if judged:
            found = [f"{numbers[name]} {name}" for name in JUDGED if numbers[name]]
            noun = _noun(result) if judged != 1 else _noun(result).removesuffix("s")
            parts.append(f"of {judged} {noun}, {_listed(found)}")
        if decided:
            noun = "claim" if decided == 1 else "claims"
            open_ = f", {claims['undecided']} undecided" if claims["undecided"] else ""
            if claims[ALONE] > claims["holds"]:
                open_ += f" ({claims[ALONE]} hold without the correction for their number)"
            parts.append(f"{claims['holds']} of {decided} {noun} hold{open_}")
        used = numbers["calibration"] + claims["calibration"]
        if used:
            parts.append(f"{used} more were used to choose a reading and are not counted")
        sentences.append(f"{where}, {'; '.join(parts)}.")
    partly = [claim for claim in result.claims if claim.differs]
    if partly:
        one = len(partly) == 1
        sentences.append(
            f"For {len(partly)} {'claim' if one else 'claims'} the verdict over re-splits differs "
            f"from the one in the paper's setting; {'it is' if one else 'they are'} marked below."
        )
    missing = [item.artefact.where for item in result.artefacts if not item.has_results]
    if missing:
        sentences.append(f"Not run yet: {', '.join(dict.fromkeys(missing))}.")
    return sentences


def _noun(result: PaperResult) -> str:
    marks = any(item.marks for item in result.artefacts)
    numbers = any(item.numbers for item in result.artefacts)
    if marks and numbers:
        return "printed numbers and marks"
    return "printed marks" if marks else "printed numbers"


@dataclass(frozen=True)
class Difference:
    """Something that differs from the paper or between the two views: sentences and the reason."""

    title: str
    sentences: tuple[str, ...]
    reason: str


def differences(result: PaperResult) -> list[Difference]:
    """Return what differs, entries of one artefact with the same reason together."""
    found = []
    for item in result.artefacts:
        by_reason: dict[str, list[tuple[str, str]]] = {}
        for each in item.judged:
            sentence, reason = _difference(item, each)
            if sentence:
                by_reason.setdefault(reason, []).append((described(item.artefact, each), sentence))
        where = item.artefact.where
        for reason, entries in by_reason.items():
            if len(entries) == 1:
                name, sentence = entries[0]
                found.append(Difference(f"{where}: {name}", (sentence,), reason))
            else:
                lines = tuple(f"{name}: {sentence}" for name, sentence in entries)
                found.append(Difference(f"{where}: {len(entries)} entries", lines, reason))
    found += [
        Difference(
            f"{each.claim.where}: {' '.join(each.claim.sentence.split())}",
            (both_verdicts(each), *_missed_parts(each)),
            _reason(each.claim),
        )
        for each in result.claims
        if each.differs or "fails" in (each.own.verdict, each.resplits.verdict)
    ]
    return found


def _missed_parts(result: ClaimResult) -> Iterator[str]:
    """Yield the parts that do not hold, where a sentence has several."""
    if len(result.parts) > 1:
        for part in result.parts:
            verdicts = {part.own.verdict, part.resplits.verdict}
            if not part.part.reading and verdicts & {"fails", "undecided"}:
                yield f"{part.part.what}: {both_verdicts(part)}"


def _reason(entry: Claim | PrintedNumber | TableMark) -> str:
    reason = reason_text(entry)
    return f"Why: {reason}." if entry.reason is None else f"Why: {reason}"


def _difference(item: ArtefactResult, each: NumberResult | MarkResult) -> tuple[str, str]:
    """Return the sentences on one printed number or mark and the reason; empty if all agrees."""
    own, over = each.own.verdict, each.resplits.verdict
    one = len(shown_views(item.judged)) == 1
    split = own in JUDGED and over in JUDGED and own != over
    missed = own in _MISSED or over in _MISSED
    if each.entry.same_as or not (split or missed):
        return "", ""
    where = "" if one else " in the paper's setting"
    parts = [f"Printed {printed_text(each)}; ours {our_words(each, 'own')}{where}."]
    if not one and over in JUDGED:
        both = f"{own} there, {over} over re-splits" if split else f"{own} on both"
        parts.append(f"Over re-splits {our_words(each, 'resplits')}: {both}.")
    return " ".join(parts), _reason(each.entry)


def both_verdicts(result: ClaimResult | PartResult) -> str:
    """Return both verdicts on a claim or a part in words, with their numbers."""
    own, over = result.own, result.resplits
    decided = [each for each in (own, over) if each.verdict in DECIDED]
    if len(decided) < 2:
        ran = decided[0] if decided else own
        return f"{ran.verdict.capitalize()}: {ran.detail}."
    if result.same_splits:
        # The same numbers twice: the second adds the interval.
        if not result.differs:
            return f"{own.verdict.capitalize()}: {over.detail}."
        return (
            f"{own.verdict.capitalize()} by the means over the paper's random splits, "
            f"{over.verdict} by their interval: {over.detail}."
        )
    verdicts = (
        f"{own.verdict.capitalize()} in the paper's own setting, {over.verdict} over re-splits."
        if result.differs
        else f"{own.verdict.capitalize()} on both."
    )
    return f"{verdicts} The paper's setting: {own.detail}. Re-splits: {over.detail}."


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
