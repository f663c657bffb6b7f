"""Tables of claims with their sub-claims, of interpretations, the glossary and the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.papers.assess import Assessment, PaperResult
from ddr_cli.papers.cells import (
    fixed_text,
    our_words,
    reason_text,
    term_name,
    threshold_text,
    verdict_text,
)
from ddr_cli.papers.claims import DECIDED, ClaimResult, PartResult
from ddr_cli.papers.lookup import HEADINGS, View
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult
from ddr_cli.papers.other_readings import ReadingResult
from ddr_cli.papers.schema import Artefact, NumberRule, PrintedNumber, TableMark, Term, glossary
from ddr_cli.report.table import Table
from ddr_cli.show.markdown import markdown


def claim_table(result: PaperResult) -> pd.DataFrame:
    """Return the claims of a paper, each followed by its sub-claims, with verdicts and numbers."""
    heads = ["claim", "sub-claim", "where", "text", "interpretation"]
    when = "before or after the result"
    heads += ["threshold", f"threshold fixed {when}", f"interpretation chosen {when}"]
    records = []
    for each in result.claims:
        claim = each.entry
        texts = [claim.id, "", claim.where, claim.sentence, *[""] * 4]
        records.append(dict(zip(heads, texts, strict=True)) | _findings(each))
        for found in each.parts:
            part = found.entry
            choice = result.paper.artefact(part.artefact).choice
            settled = f"{choice.when} the result" if choice else "the paper leaves no setting open"
            texts = [claim.id, part.id, "", part.what, part.reading or ""]
            texts += [threshold_text(part), fixed_text(found), settled]
            records.append(dict(zip(heads, texts, strict=True)) | _findings(found))
    return pd.DataFrame(records)


def _findings(found: ClaimResult | PartResult) -> dict[str, str]:
    own, over = found.own, found.resplits
    missed = own.verdict in DECIDED and "fails" in (own.verdict, over.verdict)
    return {
        "the paper's setting": verdict_text(found, "own"),
        "numbers": own.detail,
        "re-splits": verdict_text(found, "resplits"),
        "numbers over re-splits": over.detail,
        "p": "" if np.isnan(over.p) or over.verdict == "fails" else f"{over.p:.2g}",
        "reason": reason_text(found.entry) if missed else "",
    }


_MAIN = "main interpretation"


def reading_table(result: PaperResult) -> pd.DataFrame:
    """Return *interpretation x verdict*: the verdict on each number and claim for each choice."""
    groups: dict[str, dict[str, tuple[Any, Any]]] = {}
    for name, reading, found, before in _readings(result):
        group = groups.setdefault(name, {})
        counted = next(iter(group.values()))[0] if group else found
        # A result that the paper's file states for this entry precedes one from other runs.
        group.setdefault(reading, (found, before or counted))
    return pd.DataFrame(
        {
            "what": name,
            "interpretation": reading,
            "the paper's setting": found.own.verdict,
            "our result": _ours(found, "own"),
            "re-splits": found.resplits.verdict,
            "our result over re-splits": _ours(found, "resplits"),
            "changed verdicts": "" if reading == _MAIN else _flips(found, before),
        }
        for name, group in groups.items()
        if len(group) > 1 and next(iter(group)) == _MAIN
        for reading, (found, before) in group.items()
    )


_Read = tuple[str, str, Any, Any]
"""The number or claim, the interpretation, its verdict, and the one to compare with, if known."""


def _readings(result: PaperResult) -> Iterator[_Read]:
    for item in result.artefacts:
        for each in item.judged:
            entry = each.entry
            untold = isinstance(entry, PrintedNumber) and entry.value is None
            if not untold and not entry.same_as:
                yield _place(item.artefact, entry), entry.reading or _MAIN, each, None
    for claim in result.claims:
        yield claim.entry.sentence, _MAIN, claim, None
        # A sub-claim that fails makes its claim fail; one that holds need not make the claim hold.
        only = sum(not part.entry.reading for part in claim.parts) == 1
        for part in filter(lambda part: part.entry.reading, claim.parts):
            what = f"{part.entry.reading}: {part.entry.what}"
            before = claim if only or part.own.verdict == "fails" else part
            yield claim.entry.sentence, what, part, before
    for reading in result.readings:
        yield from _other_runs(reading)


def _other_runs(reading: ReadingResult) -> Iterator[_Read]:
    name = reading.reading.name
    for artefact, _, other in reading.numbers:
        if other.row is not None:
            yield _place(artefact, other.entry), name, other, None
    for counted, found in reading.claims:
        if {found.own.verdict, found.resplits.verdict} & set(DECIDED):
            yield found.entry.sentence, name, found, None
        main_parts = {part.entry.id: part for part in counted.parts}
        for part in found.parts if len(found.parts) > 1 else ():
            if _flips(part, before := main_parts[part.entry.id]) != "no":
                yield found.entry.sentence, f"{name}: {part.entry.what}", part, before


def _ours(found: NumberResult | MarkResult | ClaimResult | PartResult, view: View) -> str:
    if isinstance(found, NumberResult | MarkResult):
        return our_words(found, view)
    return str(found.through(view).detail)


def _place(artefact: Artefact, entry: PrintedNumber | TableMark) -> str:
    return ", ".join((entry.row or artefact.id, entry.column or entry.id))


_UNANSWERED = ("not run", "not applicable")


def _flips(found: Any, main: Any) -> str:
    """Return which verdicts differ; over re-splits they have no Holm correction."""
    changed = []
    for view, heading in HEADINGS.items():
        before, after = main.through(view), found.through(view).verdict
        alone = "holds" if getattr(before, "alone", False) else before.verdict
        if alone != after and not {alone, after} & set(_UNANSWERED):
            changed.append(f"{heading}: from {alone} to {after}")
    return "; ".join(changed) or "no"


def glossary_table() -> pd.DataFrame:
    """Return the glossary: the papers' words as thresholds, and the time they were fixed."""
    rule, terms = glossary().numbers, glossary().terms
    numbers = rule.model_dump(include={"rate_band", "dimension_band", "trivial"})

    def record(name: str, own: Mapping[str, float], rule: NumberRule | Term) -> dict[str, str]:
        return {
            "word": term_name(name),
            "meaning": rule.means,
            "thresholds": ", ".join(f"{key.replace('_', ' ')} {own[key]:g}" for key in own),
            "fixed at (UTC)": f"{rule.fixed:%Y-%m-%d %H:%M}",
            "earlier meaning": rule.was or "",
        }

    records = [record(name, term.set, term) for name, term in terms.items()]
    return pd.DataFrame([record("reproduced, close", numbers, rule), *records])


def count_text(assessment: Assessment) -> str:
    """Return the counts as Markdown tables: in the paper's own setting / over re-splits."""
    counts = [Table(each.reset_index()) for each in assessment.counts() if len(each)]
    return markdown(counts)
