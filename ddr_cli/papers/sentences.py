"""The results on a paper, and its differences from ours, as sentences and as counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ddr_cli.papers.assess import ALONE, ArtefactResult, PaperResult
from ddr_cli.papers.cells import (
    KINDS,
    entry_text,
    our_words,
    printed_text,
    reason_text,
    shown_views,
)
from ddr_cli.papers.claims import DECIDED, ClaimResult, PartResult
from ddr_cli.papers.lookup import View
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult
from ddr_cli.papers.schema import Claim, PrintedNumber, TableMark

_WHERE: tuple[tuple[View, str], ...]
_WHERE = (("own", "in the paper's own setting"), ("resplits", "over re-splits"))
_MISSED = ("differs (higher)", "differs (lower)", "differs", "uninformative")
JUDGED = ("reproduced", "close", *_MISSED)
"""The verdicts that compare our number with a printed one."""


def _tallies(result: PaperResult) -> Iterator[tuple[str, Counter[str], Counter[str], int, int]]:
    """Yield for each view its name, both counts of verdicts, and how many of each are judged."""
    for view, where in _WHERE:
        numbers, claims = result.counts(view), result.claim_counts(view)
        judged = sum(numbers[name] for name in JUDGED)
        yield where, numbers, claims, judged, sum(claims[name] for name in DECIDED)


def outcome(result: PaperResult) -> list[str]:
    """Return the results on a paper, in a sentence or two per view."""
    sentences = []
    for where, numbers, claims, judged, decided in _tallies(result):
        parts = []
        if judged:
            found = [_counted_verdict(numbers[name], name) for name in JUDGED if numbers[name]]
            noun = _noun(result) if judged != 1 else _noun(result).removesuffix("s")
            parts.append(f"we judge {judged} {noun}: {_listed(found)}")
        if decided:
            counted = [_counted_verdict(claims[name], name) for name in DECIDED if claims[name]]
            text = f"we judge {decided} {'claim' if decided == 1 else 'claims'}: {_listed(counted)}"
            if claims[ALONE] > claims["holds"]:
                text += f" (without Holm's correction, {claims[ALONE]} hold)"
            parts.append(text)
        if parts:
            parts += _uncounted(numbers["calibration"] + claims["calibration"])
            first, *rest = parts
            sentences.append(
                " ".join(f"{_capital(part)}." for part in (f"{where}, {first}", *rest))
            )
    n = sum(claim.differs for claim in result.claims)
    if n:
        sentences.append(
            f"For {n} {'claim' if n == 1 else 'claims'}, the verdict over re-splits differs from "
            f"the verdict in the paper's setting. "
            f"{'This claim is' if n == 1 else 'These claims are'} marked below."
        )
    missing = [item.artefact.where for item in result.artefacts if not item.has_results]
    if missing:
        sentences.append(f"There are no results yet for {', '.join(dict.fromkeys(missing))}.")
    return sentences


def _uncounted(used: int) -> list[str]:
    what, them = ("result", "it") if used == 1 else ("results", "them")
    text = (
        f"we do not count {used} other {what}, because we used {them} to choose an interpretation"
    )
    return [text] if used else []


def _counted_verdict(n: int, verdict: str) -> str:
    """Return ``3 are close`` or ``1 differs (higher)``."""
    if verdict.startswith(("differs", "holds", "fails")):
        first, _, rest = verdict.partition(" ")
        return f"{n} {first if n == 1 else first.removesuffix('s')} {rest}".rstrip()
    return f"{n} {'is' if n == 1 else 'are'} {verdict}"


def shares(result: PaperResult, view: View) -> list[dict[str, Any]]:
    """Return the parts of a bar: agreeing, close or undecided, differing, and other verdicts.

    Each part has its kind, its number of verdicts, and a description of these.
    """
    rest = result.counts(view) + result.claim_counts(view)
    del rest[ALONE]
    found = {kind: {name: rest.pop(name, 0) for name in own} for kind, own in KINDS.items()}
    parts = []
    for kind, own in (found | {"untold": rest}).items():
        if count := sum(own.values()):
            words = _listed([f"{own[name]} {name}" for name in own if own[name]])
            parts.append({"kind": kind, "count": count, "words": words})
    return parts


def glance(result: PaperResult) -> str:
    """Return the results on a paper in one sentence."""
    parts = []
    for where, numbers, claims, judged, decided in _tallies(result):
        near = numbers["reproduced"] + numbers["close"]
        found = [f"{near} of {judged} {_noun(result)} are reproduced or close"] if judged else []
        found += [f"{claims['holds']} of {decided} claims hold"] if decided else []
        if found:
            parts.append(f"{_capital(where)}, {', and '.join(found)}.")
    return " ".join(parts) or "There are no verdicts yet."


def _noun(result: PaperResult) -> str:
    marks = any(item.marks for item in result.artefacts)
    numbers = any(item.numbers for item in result.artefacts)
    if marks and numbers:
        return "printed numbers and ratings"
    return "printed ratings" if marks else "printed numbers"


class Difference(NamedTuple):
    """A difference from the paper or between the two views: sentences and the reason."""

    title: str
    sentences: Sequence[str]
    reason: str


def differences(result: PaperResult) -> list[Difference]:
    """Return the differences; entries of one artefact with the same reason are joined."""
    found = []
    for item in result.artefacts:
        by_reason = defaultdict(list)
        for each in item.judged:
            if sentence := _difference(item, each):
                by_reason[_reason(each.entry)].append((entry_text(item.artefact, each), sentence))
        for reason, entries in by_reason.items():
            title, lines = f"{len(entries)} results", [": ".join(entry) for entry in entries]
            if len(entries) == 1:
                title, lines = entries[0][0], [entries[0][1]]
            found.append(Difference(f"{item.artefact.where}: {title}", lines, reason))
    for claim in result.claims:
        if claim.differs or "fails" in (claim.own.verdict, claim.resplits.verdict):
            title = f"{claim.entry.where}: {claim.entry.sentence}"
            lines = [both_verdicts(claim), *_missed_parts(claim)]
            found.append(Difference(title, lines, _reason(claim.entry)))
    return found


def _missed_parts(result: ClaimResult) -> Iterator[str]:
    """Yield the sub-claims that do not hold, if a claim has several."""
    if len(result.parts) > 1:
        for part in result.parts:
            verdicts = {part.own.verdict, part.resplits.verdict}
            if not part.entry.reading and verdicts & {"fails", "undecided"}:
                yield f"{part.entry.what}: {both_verdicts(part)}"


def _reason(entry: Claim | PrintedNumber | TableMark) -> str:
    return f"Reason: {reason_text(entry)}{'' if entry.reason else '.'}"


def _difference(item: ArtefactResult, each: NumberResult | MarkResult) -> str:
    """Return the sentences on one printed number or rating, empty if everything agrees."""
    own, over = each.own.verdict, each.resplits.verdict
    one = len(shown_views(item.judged)) == 1
    split = own in JUDGED and over in JUDGED and own != over
    if each.entry.same_as or not (split or own in _MISSED or over in _MISSED):
        return ""
    where = "" if one else " in the paper's setting"
    text = f"Printed: {printed_text(each)}. Our result{where}: {our_words(each, 'own')}."
    if one or over not in JUDGED:
        return text
    both = f"{own} in the paper's setting, {f'but {over}' if split else 'and also'} over re-splits"
    return f"{text} Our result over re-splits: {our_words(each, 'resplits')}. Verdict: {both}."


def both_verdicts(result: ClaimResult | PartResult) -> str:
    """Return both verdicts on a claim or a sub-claim in words, with their numbers."""
    own, over = result.own, result.resplits
    decided = [each for each in (own, over) if each.verdict in DECIDED]
    if len(decided) < 2:
        ran = decided[0] if decided else own
        return f"{ran.verdict.capitalize()}: {ran.detail}."
    first = own.verdict.capitalize()
    if result.same_splits and not result.differs:
        # Both views have the same numbers and verdict; the second also has the interval.
        return f"{first}: {over.detail}."
    if result.same_splits:
        return (
            f"{first} according to the means over the paper's random splits, but {over.verdict} "
            f"according to the interval over these splits: {over.detail}."
        )
    second = f"but {over.verdict}" if result.differs else "and also"
    return (
        f"{first} in the paper's own setting, {second} over re-splits. "
        f"The paper's setting: {own.detail}. Re-splits: {over.detail}."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
