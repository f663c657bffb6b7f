"""Other interpretations of a paper: the same numbers and claims, judged again.

An interpretation in a paper's file names the specs that were run instead of the main ones. The
numbers and claims that it changes are judged by the same rules, shown next to the counted
interpretation, and never counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ddr_cli.comparison.summary import Summary
from ddr_cli.papers.claims import ClaimResult, judge_claim
from ddr_cli.papers.numbers import NumberResult, judge_numbers
from ddr_cli.papers.schema import Artefact, Claim, Paper, PrintedNumber, Reading


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
