"""The verdicts under every interpretation of a paper, as one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ddr_cli.papers.claims import DECIDED
from ddr_cli.papers.lookup import HEADINGS
from ddr_cli.papers.other_readings import ReadingResult
from ddr_cli.papers.schema import Paper
from ddr_cli.papers.verdicts import both, claim_rows, number_rows, table_of, with_n

_MAIN = "main interpretation"
_UNANSWERED = ("not run", "not applicable")
_Pair = tuple[Any, Any]
"""The rows of an entry in both views."""


def reading_table(
    paper: Paper, table: pd.DataFrame, readings: Sequence[ReadingResult]
) -> pd.DataFrame:
    """Return *interpretation x verdict*: the verdict on each number and claim for each choice."""
    groups: dict[str, dict[str, tuple[_Pair, _Pair]]] = {}
    for name, reading, found, before in _readings(paper, table, readings):
        group = groups.setdefault(name, {})
        counted = next(iter(group.values()))[0] if group else found
        # A result that the paper's file states for this entry precedes one from other runs.
        group.setdefault(reading, (found, before or counted))
    return pd.DataFrame(
        {
            "what": name,
            "interpretation": reading,
            "the paper's setting": own.verdict,
            "our result": with_n(own),
            "re-splits": over.verdict,
            "our result over re-splits": with_n(over),
            "changed verdicts": "" if reading == _MAIN else _flips((own, over), before),
        }
        for name, group in groups.items()
        if len(group) > 1 and next(iter(group)) == _MAIN
        for reading, ((own, over), before) in group.items()
    )


_Read = tuple[str, str, _Pair, _Pair | None]
"""The number or claim, the interpretation, its verdicts, and those to compare with, if known."""


def _readings(
    paper: Paper, table: pd.DataFrame, readings: Sequence[ReadingResult]
) -> Iterator[_Read]:
    for pair in both(table[(table["kind"] == "numbers") & (table["same_as"] == "")]):
        own = pair[0]
        if not (own.metric and pd.isna(own.printed_value)):
            yield _place(own), own.reading or _MAIN, pair, None
    parts = [*both(table[table["kind"] == "parts"])]
    for claim in both(table[table["kind"] == "claims"]):
        yield claim[0].text, _MAIN, claim, None
        yield from _of_parts(claim, [pair for pair in parts if pair[0].claim == claim[0].id])
    main_parts = {pair[0].id: pair for pair in parts}
    for reading in readings:
        yield from _of_other_runs(paper, reading, main_parts)


def _of_parts(claim: _Pair, parts: Sequence[_Pair]) -> Iterator[_Read]:
    # A sub-claim that fails makes its claim fail; one that holds need not make the claim hold.
    only = sum(not own.reading for own, _ in parts) == 1
    for own, over in parts:
        if own.reading:
            before = claim if only or own.verdict == "fails" else (own, over)
            yield claim[0].text, f"{own.reading}: {own.text}", (own, over), before


def _of_other_runs(
    paper: Paper, reading: ReadingResult, main_parts: Mapping[str, _Pair]
) -> Iterator[_Read]:
    name = reading.reading.name
    for artefact, _, other in reading.numbers:
        (pair,) = both(table_of(number_rows(artefact, [other])))
        if other.row is not None:
            yield _place(pair[0]), name, pair, None
    for _, found in reading.claims:
        claim, *parts = both(table_of(claim_rows(paper, found)))
        sentence = claim[0].text
        if {each.verdict for each in claim} & set(DECIDED):
            yield sentence, name, claim, None
        for part in parts if len(parts) > 1 else ():
            if _flips(part, before := main_parts[part[0].id]) != "no":
                yield sentence, f"{name}: {part[0].text}", part, before


def _place(row: Any) -> str:
    return f"{row.row or row.artefact}, {row.column or row.id.partition('.')[2]}"


def _flips(found: _Pair, main: _Pair) -> str:
    """Return which verdicts differ; over re-splits they have no Holm correction."""
    changed = []
    for heading, before, after in zip(HEADINGS.values(), main, found, strict=True):
        alone = "holds" if before.alone else before.verdict
        if alone != after.verdict and not {alone, after.verdict} & set(_UNANSWERED):
            changed.append(f"{heading}: from {alone} to {after.verdict}")
    return "; ".join(changed) or "no"
