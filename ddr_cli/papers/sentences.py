"""What came out of a paper and what differs from it, in sentences and in shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ddr_cli.papers.assess import ALONE, ArtefactResult, PaperResult
from ddr_cli.papers.cells import described, our_words, printed_text, reason_text, shown_views
from ddr_cli.papers.claims import DECIDED, ClaimResult, PartResult
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult
from ddr_cli.papers.rows import View
from ddr_cli.papers.schema import Claim, PrintedNumber, TableMark

_WHERE: tuple[tuple[View, str], ...]
_WHERE = (("own", "in the paper's own setting"), ("resplits", "over re-splits"))
_MISSED = ("differs (higher)", "differs (lower)", "differs", "uninformative")
JUDGED = ("reproduced", "close", *_MISSED)
"""The verdicts that say how ours stands to a printed number."""


def outcome(result: PaperResult) -> list[str]:
    """Return what came out of a paper, in a sentence or two per view."""
    sentences = []
    for view, where in _WHERE:
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
        sentences.append(f"{_capital(where)}, {'; '.join(parts)}.")
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


@dataclass(frozen=True)
class Share:
    """How many numbers and sentences of a paper got verdicts of one kind, and which these are."""

    kind: str
    count: int
    words: str


_KINDS = {
    "agrees": ("reproduced", "holds"),
    "near": ("close", "undecided", "uninformative"),
    "differs": ("differs", "differs (higher)", "differs (lower)", "fails"),
}


def shares(result: PaperResult, view: View) -> list[Share]:
    """Return the parts of a bar: what agrees, what is near or open, what differs, and the rest."""
    found = result.counts(view) + result.claim_counts(view)
    del found[ALONE]
    rest = Counter(found)
    parts = []
    for kind, verdicts in _KINDS.items():
        own = {name: rest.pop(name) for name in verdicts if rest[name]}
        parts.append(_share(kind, own))
    return [part for part in (*parts, _share("untold", rest)) if part.count]


def _share(kind: str, found: dict[str, int]) -> Share:
    words = _listed([f"{count} {name}" for name, count in found.items()]) if found else ""
    return Share(kind, sum(found.values()), words)


def glance(result: PaperResult) -> str:
    """Return what came out of a paper in one sentence."""
    parts = []
    for view, where in _WHERE:
        numbers, claims = result.counts(view), result.claim_counts(view)
        judged = sum(numbers[name] for name in JUDGED)
        decided = sum(claims[name] for name in DECIDED)
        found = []
        if judged:
            near = numbers["reproduced"] + numbers["close"]
            found.append(f"{near} of {judged} {_noun(result)} are reproduced or close")
        if decided:
            found.append(f"{claims['holds']} of {decided} claims hold")
        if found:
            parts.append(f"{where} {' and '.join(found)}")
    text = "; ".join(parts) or "nothing is judged yet"
    return f"{_capital(text)}."


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
            f"{each.entry.where}: {' '.join(each.entry.sentence.split())}",
            (both_verdicts(each), *_missed_parts(each)),
            _reason(each.entry),
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
            if not part.entry.reading and verdicts & {"fails", "undecided"}:
                yield f"{part.entry.what}: {both_verdicts(part)}"


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


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
