"""What came out of a paper and what differs from it, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from ddr_cli.report.assess import ArtefactResult, PaperResult
from ddr_cli.report.claims import DECIDED, ClaimResult
from ddr_cli.report.matrices import mark_words
from ddr_cli.report.signs import MarkResult
from ddr_cli.report.tables import described, ours_text, printed_text, shown_views
from ddr_cli.report.verdicts import NumberResult

JUDGED = ("reproduced", "better", "worse", "differs")
"""The verdicts that say how ours stands to a printed number."""

_MISSED = ("worse", "differs")


def outcome(result: PaperResult) -> list[str]:
    """Return what came out of a paper, in a sentence or two per view."""
    sentences = []
    for view, where in (("own", "In the paper's own setting"), ("resplits", "Over re-splits")):
        numbers, claims = result.counts(view), result.claim_counts(view)
        judged = sum(numbers[name] for name in JUDGED)
        decided = sum(claims[name] for name in DECIDED)
        if not judged and not decided:
            continue
        parts = []
        if judged:
            told = [f"{numbers[name]} {name}" for name in JUDGED if numbers[name]]
            noun = _noun(result) if judged != 1 else _noun(result).removesuffix("s")
            parts.append(f"of {judged} {noun}, {_listed(told)}")
        if decided:
            noun = "claim" if decided == 1 else "claims"
            open_ = f", {claims['undecided']} undecided" if claims["undecided"] else ""
            parts.append(f"{claims['holds']} of {decided} {noun} hold{open_}")
        sentences.append(f"{where}, {'; '.join(parts)}.")
    partly = [claim for claim in result.claims if claim.differs]
    if partly:
        one = len(partly) == 1
        sentences.append(
            f"{len(partly)} {'claim has' if one else 'claims have'} another verdict over re-splits "
            f"than in the paper's setting; {'it is' if one else 'they are'} marked below."
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
    """Something that differs from the paper, or between the two views.

    Parameters
    ----------
    title : str
        What it is about.
    told : tuple of str
        The numbers, a sentence or two for each.
    remark : str
        What is known of the reason.
    """

    title: str
    told: tuple[str, ...]
    remark: str


def differences(result: PaperResult) -> list[Difference]:
    """Return what differs, entries of one artefact with the same reason together."""
    found = []
    for item in result.artefacts:
        by_reason: dict[str, list[tuple[str, str]]] = {}
        for each in item.judged.values():
            told, remark = _difference(item, each)
            if told:
                by_reason.setdefault(remark, []).append((_name(item, each), told))
        where = item.artefact.where
        for remark, entries in by_reason.items():
            if len(entries) == 1:
                name, told = entries[0]
                found.append(Difference(f"{where}: {name}", (told,), remark))
            else:
                lines = tuple(f"{name}: {told}" for name, told in entries)
                found.append(Difference(f"{where}: {len(entries)} entries", lines, remark))
    found += [
        Difference(_first_sentence(claim), (told_apart(claim),), _one_line(claim.claim.remark))
        for claim in result.claims
        if claim.differs or "fails" in (claim.own.verdict, claim.resplits.verdict)
    ]
    return found


def _one_line(remark: str | None) -> str:
    return " ".join((remark or "").split())


def _name(item: ArtefactResult, each: NumberResult | MarkResult) -> str:
    return each.mark.id if isinstance(each, MarkResult) else described(item.artefact, each)


def _difference(item: ArtefactResult, each: NumberResult | MarkResult) -> tuple[str, str]:
    """Return the sentences on one printed number or mark and the reason; empty if all agrees."""
    remark = each.mark.remark if isinstance(each, MarkResult) else each.printed.remark
    own, over = each.own.verdict, each.resplits.verdict
    same: list[NumberResult | MarkResult] = [*item.numbers, *item.marks]
    one = len(shown_views(same)) == 1
    split = own in JUDGED and over in JUDGED and own != over
    missed = own in _MISSED or over in _MISSED
    if not split and not missed and not (own == "better" and remark):
        return "", ""
    ours = _told(each, "own")
    where = "" if one else " in the paper's setting"
    parts = [f"Printed {_printed(each)}; ours {ours}{where}."]
    if not one and over in JUDGED:
        both = f"{own} there, {over} over re-splits" if split else f"{own} on both"
        parts.append(f"Over re-splits {_told(each, 'resplits')}: {both}.")
    reason = _one_line(remark) or ("We know no reason yet." if missed else "")
    return " ".join(parts), reason


def _printed(each: NumberResult | MarkResult) -> str:
    return mark_words(each.mark.printed) if isinstance(each, MarkResult) else printed_text(each)


def _told(each: NumberResult | MarkResult, view: str) -> str:
    if isinstance(each, MarkResult):
        judged = getattr(each, view)
        return f"{mark_words(judged.sign)} ({judged.detail})"
    return ours_text(getattr(each, view), each.printed.metric)


def _first_sentence(result: ClaimResult) -> str:
    return f"{result.claim.where}: {' '.join(result.claim.sentence.split())}"


def told_apart(result: ClaimResult) -> str:
    """Return both verdicts on a claim in words, with their numbers."""
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
            f"{over.verdict} by their corrected interval: {over.detail}."
        )
    judged = (
        f"{own.verdict.capitalize()} in the paper's own setting, {over.verdict} over re-splits."
        if result.differs
        else f"{own.verdict.capitalize()} on both."
    )
    return f"{judged} The paper's setting: {own.detail}. Re-splits: {over.detail}."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
