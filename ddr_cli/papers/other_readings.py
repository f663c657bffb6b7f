"""Other interpretations of a paper: the same numbers and claims, judged again.

An interpretation in a paper's file names the specs that were run instead of the main ones. The
numbers and claims that it changes are judged by the same rules, shown next to the counted
interpretation, and never counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ddr_cli.comparison.summary import Summary
from ddr_cli.papers.claims import DECIDED, ClaimResult, judge_claim
from ddr_cli.papers.lookup import HEADINGS
from ddr_cli.papers.numbers import NumberResult, judge_numbers
from ddr_cli.papers.schema import Artefact, Claim, Paper, PrintedNumber, Reading
from ddr_cli.papers.verdicts import both, claim_rows, number_rows, table_of, with_n

_MAIN = "main interpretation"
_UNANSWERED = ("not run", "not applicable")
_Pair = tuple[Any, Any]
"""The rows of an entry in both views."""


@dataclass(frozen=True)
class ReadingResult:
    """An interpretation's results for the numbers and claims that it changes, main one first."""

    reading: Reading
    numbers: tuple[tuple[Artefact, NumberResult, NumberResult], ...]
    claims: tuple[tuple[ClaimResult, ClaimResult], ...]


def judge_readings(
    paper: Paper,
    summaries: Mapping[str, Summary],
    numbers: Sequence[tuple[Artefact, Sequence[NumberResult]]],
    claims: Sequence[ClaimResult],
) -> tuple[ReadingResult, ...]:
    """Return a result for each interpretation with at least one existing run."""
    found = []
    for reading in paper.readings:
        if not set(reading.specs.values()) & set(summaries):
            continue
        pairs = []
        for artefact, results in numbers:
            changed = {
                each.entry.id: (each, entry)
                for each in results
                if (entry := _number(each.entry, reading, artefact)) is not None
            }
            printed = tuple(entry for _, entry in changed.values())
            other = artefact.model_copy(update={"printed": printed})
            pairs += [
                (artefact, changed[each.entry.id][0], each)
                for each in judge_numbers(other, summaries, paper.method)
            ]
        sentences = [
            (each, judge_claim(claim, paper, summaries))
            for each in claims
            if (claim := _claim(each.entry, reading, paper)) is not None
        ]
        found.append(ReadingResult(reading, tuple(pairs), tuple(sentences)))
    return tuple(found)


def _number(entry: PrintedNumber, reading: Reading, artefact: Artefact) -> PrintedNumber | None:
    if entry.value is None or entry.reading or entry.same_as:
        return None
    select = reading.applied(entry.select, artefact.specs[0])
    return None if select is None else entry.model_copy(update={"select": select})


def _claim(claim: Claim, reading: Reading, paper: Paper) -> Claim | None:
    """Return a claim under an interpretation, None if it is unchanged."""
    parts = []
    changed = False
    for part in claim.parts:
        if part.reading:
            continue
        default = paper.artefact(part.artefact).specs[0]
        select = reading.applied(part.select, default)
        than = None if part.than is None else reading.applied(part.than, default)
        changed = changed or select is not None or than is not None
        update = {"select": select or part.select, "than": than or part.than}
        parts.append(part.model_copy(update=update))
    return claim.model_copy(update={"parts": tuple(parts)}) if changed else None


# -- the verdicts of all interpretations -----------------------------------------------------------


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
