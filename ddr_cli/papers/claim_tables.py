"""Tables of what the papers say: sentences with their parts, readings, the glossary, the counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.papers.assess import Assessment, PaperResult
from ddr_cli.papers.cells import fixed_text, our_words, reason_text, threshold_text, verdict_text
from ddr_cli.papers.claims import DECIDED, ClaimResult, PartResult
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult
from ddr_cli.papers.rows import View
from ddr_cli.papers.schema import Artefact, NumberRule, PrintedNumber, TableMark, Term, glossary
from ddr_cli.report.table import Table


def claim_table(result: PaperResult) -> pd.DataFrame:
    """Return the claims of a paper, each with its parts below it, with verdicts and numbers."""
    heads = ["claim", "part", "where", "sentence", "reading"]
    heads += ["threshold", "threshold fixed", "reading settled"]
    records = []
    for each in result.claims:
        claim = each.entry
        texts = [claim.id, "", claim.where, claim.sentence, *[""] * 4]
        records.append(dict(zip(heads, texts, strict=True)) | _findings(each))
        for found in each.parts:
            part = found.entry
            choice = result.paper.artefact(part.artefact).choice
            settled = choice.when if choice else "nothing left open"
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


def reading_table(result: PaperResult) -> pd.DataFrame:
    """Return *reading x verdict*: what each free choice makes of a printed number or sentence."""
    groups: dict[str, list[tuple[str, Any, Any]]] = {}
    main = "the one that counts"

    def add(name: str, reading: str | None, found: Any, before: Any = None) -> None:
        group = groups.setdefault(name, [])
        # What the papers' files spell out entry by entry is not repeated.
        if (reading or main) not in [each for each, *_ in group]:
            counted = group[0][1] if group else found
            group.append((reading or main, found, before or counted))

    for item in result.artefacts:
        for each in item.judged:
            entry = each.entry
            untold = isinstance(entry, PrintedNumber) and entry.value is None
            if not untold and not entry.same_as:
                add(_place(item.artefact, entry), entry.reading, each)
    for claim in result.claims:
        sentence = claim.entry.sentence
        add(sentence, None, claim)
        for part in claim.parts:
            if part.entry.reading:
                what = f"{part.entry.reading}: {part.entry.what}"
                # Of several things that a sentence says one can make it fail, and not make it hold.
                only = sum(not each.entry.reading for each in claim.parts) == 1
                alone = only or part.own.verdict == "fails"
                add(sentence, what, part, claim if alone else part)
    for reading in result.readings:
        name = reading.reading.name
        for artefact, _, other in reading.numbers:
            if other.own.row is not None or other.resplits.row is not None:
                add(_place(artefact, other.entry), name, other)
        for counted, found in reading.claims:
            sentence = found.entry.sentence
            if {found.own.verdict, found.resplits.verdict} & set(DECIDED):
                add(sentence, name, found)
            main_parts = {part.entry.id: part for part in counted.parts}
            for part in found.parts if len(found.parts) > 1 else ():
                before = main_parts[part.entry.id]
                if _flips(part, before) != "no":
                    add(sentence, f"{name}: {part.entry.what}", part, before)
    records = []
    for name, group in groups.items():
        if len(group) == 1 or group[0][0] != main:
            continue
        records += [
            {
                "what": name,
                "reading": reading,
                "the paper's setting": found.own.verdict,
                "ours": _ours(found, "own"),
                "re-splits": found.resplits.verdict,
                "ours over re-splits": _ours(found, "resplits"),
                "flips": "" if reading == main else _flips(found, before),
            }
            for reading, found, before in group
        ]
    return pd.DataFrame(records)


def _ours(found: NumberResult | MarkResult | ClaimResult | PartResult, view: View) -> str:
    if isinstance(found, NumberResult | MarkResult):
        return our_words(found, view)
    return str(found.through(view).detail)


def _place(artefact: Artefact, entry: PrintedNumber | TableMark) -> str:
    return ", ".join((entry.row or artefact.id, entry.column or entry.id))


_UNANSWERED = ("not run", "not applicable")


def _flips(found: Any, main: Any) -> str:
    """Return which verdicts are others; over re-splits as they are without Holm's correction."""
    changed = []
    for view, heading in (("own", "the paper's setting"), ("resplits", "re-splits")):
        before, after = main.through(view), found.through(view).verdict
        alone = "holds" if getattr(before, "alone", False) else before.verdict
        if alone != after and not {alone, after} & set(_UNANSWERED):
            changed.append(f"{heading}: {alone} to {after}")
    return "; ".join(changed) or "no"


def glossary_table() -> pd.DataFrame:
    """Return the glossary: what the papers' words mean in numbers, and since when."""
    rule, terms = glossary().numbers, glossary().terms
    numbers = rule.model_dump(include={"rate_tolerance", "dimension_tolerance", "trivial"})

    def record(name: str, own: Mapping[str, float], rule: NumberRule | Term) -> dict[str, str]:
        return {
            "word": name.replace("_", " "),
            "means": rule.means,
            "numbers": ", ".join(f"{key.replace('_', ' ')} {own[key]:g}" for key in own),
            "fixed": f"{rule.fixed:%Y-%m-%d %H:%M}",
            "before": rule.was or "",
        }

    records = [record(name, term.set, term) for name, term in terms.items()]
    return pd.DataFrame([record("reproduced, close", numbers, rule), *records])


def count_text(assessment: Assessment) -> str:
    """Return the counts as Markdown tables: in the paper's own setting / over re-splits."""
    counts = [Table(each.reset_index()) for each in assessment.counts() if len(each)]
    return "\n".join(each.markdown() for each in counts)
