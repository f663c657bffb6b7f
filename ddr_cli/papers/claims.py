"""The claims of a paper judged: rows -> predicate of each part -> verdict on the sentence.

A part is looked at twice. In the paper's own split or setting the means decide. Over repeated
random splits a part holds when every value of the 95 % interval meets its predicate, whatever its
kind, and is undecided when the mean does and the interval does not. A sentence holds when all its
parts do. Over re-splits its p-value is the largest of its parts' (one minus the level of the widest
interval that still meets them), and Holm's correction over the counted claims of a paper applies: a
sentence that holds alone, but not with the correction, is undecided. `ddr_cli.papers.predicates`
has the predicates; the glossary has the thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.names import (
    difference_text,
    family_name,
    lower_is_better,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.summary import MEAN_LEVEL, Row, Summary
from ddr_cli.comparison.within_dataset import difference_interval, paired
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import t_above, t_quantile
from ddr_cli.papers.predicates import EXACT, NotSweptError, Outcome, UnansweredError
from ddr_cli.papers.rows import VIEWS, Entry, Judged, Lookup, View, family_of, nearest_place
from ddr_cli.papers.schema import Claim, Paper, Part, glossary

if TYPE_CHECKING:
    from ddr_cli.papers.predicates import Series

ClaimVerdict = Literal["holds", "fails", "undecided", "not run", "not applicable"]

DECIDED = ("holds", "fails", "undecided")
"""The verdicts that our results give."""

_ALPHA = 1 - MEAN_LEVEL


# -- what a predicate sees ------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A mean and the interval of level 95 % that it has over `n` splits; nan where it has none."""

    mean: float
    low: float = np.nan
    high: float = np.nan
    n: int = 1

    def p(self, *, above: float = -np.inf, below: float = np.inf) -> float:
        """Return one minus the level of the widest interval above and below the given bounds.

        It is 1 where the mean itself is not, and nan where there is no interval.
        """
        # Of a rate at the edge of 0 to 100 % one end is cut off; the other gives the width.
        half = max(self.mean - self.low, self.high - self.mean)
        if np.isnan(half):
            return float("nan")
        distance = min(self.mean - above, below - self.mean)
        if half <= 0:
            return 0.0 if distance >= 0 else 1.0
        ratio = distance / half * t_quantile((1 + MEAN_LEVEL) / 2, self.n - 1)
        return min(1.0, 2 * t_above(ratio, self.n - 1))

    def within(self, text: str, *, above: float = -np.inf, below: float = np.inf) -> Outcome:
        """Return whether the mean lies within the bounds, which belong to what is asked."""
        holds = above - EXACT <= self.mean <= below + EXACT
        return Outcome(holds, text, self.p(above=above, below=below))


@dataclass(frozen=True)
class PartView:
    """A part of a claim through one view: its rows, and what a comparison of two of them shows.

    What has no answer in our results raises an `UnansweredError`.
    """

    part: Part
    rows: Lookup

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values of the part's metric are better."""
        return lower_is_better(self.part.metric)

    def row(self) -> Row:
        """Return the part's row."""
        return self.rows.row(self.part.select)

    def pair(self) -> tuple[Row, Row]:
        """Return the part's row and the one that it is compared with."""
        return self.row(), self.rows.row(self.part.selectors[-1])

    def series(self, low: float | None = None, high: float | None = None) -> Series:
        """Return the part's rows along its parameter, from `low` to `high`, both included."""
        return [
            (place, row)
            for place, row in self.rows.series(self.part.select, self.part.along)
            if (low is None or place >= low) and (high is None or place <= high)
        ]

    def common(self, low: float | None, high: float | None) -> list[tuple[float, Row, Row]]:
        """Return the grid values of the series that the other one has too, and both rows.

        Where the other one has no such parameter it is the same everywhere.
        """
        ours, than = self.series(low, high), self.part.selectors[-1]
        try:
            others = self.rows.series(than, self.part.along)
        except NotSweptError:
            level = self.rows.row(than)
            return [(place, row, level) for place, row in ours]
        # A grid of dividing steps has the same values to the last digit only within one spec.
        return [
            (place, row, other)
            for place, row in ours
            for at, other in others
            if np.isclose(place, at, rtol=1e-9, atol=0.0)
        ]

    def at(self, target: float) -> tuple[float, Row]:
        """Return the grid value of the series nearest to the target, and its row."""
        places = dict(self.series())
        place = nearest_place(places, target)
        return place, places[place]

    def gain(self, *pairs: tuple[Row, Row]) -> tuple[Estimate, str]:
        """Return how far the first rows are ahead of the second on average, and the words."""
        if self.lower_is_better:
            pairs = tuple((second, first) for first, second in pairs)
        return self.difference(*pairs)

    def difference(self, *pairs: tuple[Row, Row]) -> tuple[Estimate, str]:
        """Return the mean of first - second, several pairs averaged, and the words.

        Only over re-splits it has an interval, and must have one.
        """
        try:
            if self.rows.view == "own":
                means = [paired(first, second).values.mean() for first, second in pairs]
                return Estimate(float(np.mean(means))), ""
            found = difference_interval(*pairs)
        except InputError as error:
            raise UnansweredError(str(error).rstrip(".")) from None
        if found is None:
            raise UnansweredError("an interval needs two re-splits or more")
        what = "difference" if len(pairs) == 1 else "average difference"
        return Estimate(found.mean, found.low, found.high, found.n), (
            f"; {what} {self.points(found.mean)}, {100 * MEAN_LEVEL:g} % interval "
            f"{self.points(found.low, unit=False)} to {self.points(found.high, unit=False)} over "
            f"{family_name(pairs[0][0].family, found.n)}, {found.name}"
        )

    def level(self, row: Row) -> tuple[Estimate, str]:
        """Return a row's mean, over re-splits with its interval, and the words for that."""
        if self.rows.view == "own":
            return Estimate(float(row["mean"])), ""
        if np.isnan(row["mean_low"]):
            raise UnansweredError("an interval needs two re-splits or more")
        return Estimate(float(row["mean"]), row["mean_low"], row["mean_high"], int(row["n"])), (
            f" ({100 * MEAN_LEVEL:g} % interval {self.show(row['mean_low'])} to "
            f"{self.show(row['mean_high'])} over {family_name(row.family, row['n'])}, "
            f"{row['mean_interval']})"
        )

    def estimate(self, values: NDArray[np.float64]) -> Estimate:
        """Return the mean of values that share nothing, such as times, with its t-interval."""
        n, mean = len(values), float(values.mean())
        half = t_quantile((1 + MEAN_LEVEL) / 2, n - 1) * float(values.std(ddof=1) / np.sqrt(n))
        return Estimate(mean, mean - half, mean + half, n)

    def show(self, value: float) -> str:
        """Return a value of the part's metric as text."""
        return number(value, self.part.metric)

    def points(self, difference: float, *, unit: bool = True) -> str:
        """Return a difference of two values as text."""
        return difference_text(difference, self.part.metric, unit=unit)

    def place(self, value: float) -> str:
        """Return a grid value as text, such as ``β = 0.562``."""
        return f"{parameter_name(self.part.along, short=True)} = {plain(value)}"

    def show_at(self, place: float, row: Row) -> str:
        """Return a row's mean with its grid value."""
        return f"{self.show(row['mean'])} at {self.place(place)}"

    def show_row(self, row: Row) -> str:
        """Return a row's mean with its method."""
        return f"{self.show(row['mean'])} ({row.title})"


# -- verdicts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """Whether something holds through one view, with the numbers that say so.

    `p` is nan where there is no interval. With `alone` it holds at 95 % by itself.
    """

    verdict: ClaimVerdict
    detail: str
    p: float = float("nan")
    alone: bool = False


@dataclass(frozen=True)
class _Tested(Judged[Entry, Finding]):
    """A claim or a part of one, and what became of it.

    With `same_splits` the paper's setting is itself repeated random splits: then both views look at
    the same numbers, and only the second asks for the interval.
    """

    same_splits: bool

    @property
    def differs(self) -> bool:
        """Whether both views decide and disagree."""
        verdicts = {self.own.verdict, self.resplits.verdict}
        return len(verdicts) == 2 and verdicts <= set(DECIDED)


@dataclass(frozen=True)
class PartResult(_Tested[Part]):
    """A part; `threshold` says if it was fixed before or after the result was seen, or not run."""

    threshold: str


@dataclass(frozen=True)
class ClaimResult(_Tested[Claim]):
    """A claim with its parts."""

    parts: tuple[PartResult, ...]


def judge_claims(paper: Paper, summaries: Mapping[str, Summary]) -> tuple[ClaimResult, ...]:
    """Return the result of each claim of a paper, with Holm's correction over re-splits."""
    found = [judge_claim(claim, paper, summaries) for claim in paper.claims]
    decided = [
        each
        for each in found
        if each.entry.is_counted("resplits")
        and each.resplits.verdict in DECIDED
        and not np.isnan(each.resplits.p)
    ]
    adjusted = 0.0
    for rank, each in enumerate(sorted(decided, key=lambda each: each.resplits.p)):
        over = each.resplits
        adjusted = max(adjusted, (len(decided) - rank) * over.p)
        if over.verdict == "holds" and adjusted > _ALPHA:
            words = f"{over.detail}; holds alone, not beside the {len(decided)} claims (Holm)"
            corrected = replace(over, verdict="undecided", detail=words, alone=True)
            found[found.index(each)] = replace(each, resplits=corrected)
    return tuple(found)


def judge_claim(claim: Claim, paper: Paper, summaries: Mapping[str, Summary]) -> ClaimResult:
    """Return the result of a claim alone."""
    parts = tuple(_judge_part(part, paper, summaries) for part in claim.parts)
    own, over = (
        _together([each.through(view) for each in parts if each.entry.is_counted(view)])
        for view in VIEWS
    )
    return ClaimResult(claim, own, over, all(each.same_splits for each in parts), parts)


def _together(findings: Sequence[Finding]) -> Finding:
    """Return the finding on a sentence from those on its parts."""
    if len(findings) == 1:
        return findings[0]
    if not findings:
        return Finding("not applicable", "every part was looked at to choose a reading")
    order: list[ClaimVerdict] = ["fails", "not run", "not applicable", "undecided", "holds"]
    verdict = min((each.verdict for each in findings), key=order.index)
    if verdict not in DECIDED:
        return next(each for each in findings if each.verdict == verdict)
    holding = sum(each.verdict == "holds" for each in findings)
    p = max((each.p for each in findings), key=lambda p: np.inf if np.isnan(p) else p)
    return Finding(verdict, f"{holding} of {len(findings)} parts hold", p)


def _judge_part(part: Part, paper: Paper, summaries: Mapping[str, Summary]) -> PartResult:
    artefact = paper.artefact(part.artefact)
    default = artefact.specs[0]

    def finding(view: View) -> Finding:
        rows = Lookup(summaries, default, view, part.metric, artefact.resplits)
        try:
            found = part.predicate(PartView(part, rows))
        except UnansweredError as error:
            return Finding(error.verdict, str(error))
        if not found.holds:
            # The worst there is: Holm's correction counts it among the others.
            return Finding("fails", found.detail, float("nan") if view == "own" else 1.0)
        open_ = view == "resplits" and found.p > _ALPHA + EXACT
        return Finding("undecided" if open_ else "holds", found.detail, found.p)

    specs = {meant.spec or default for meant in part.selectors}
    runs = [summaries[name].run for name in specs if name in summaries]
    same_splits = bool(runs) and all(
        family_of(run, "own") == family_of(run, "resplits") for run in runs
    )
    times = [time for name in specs if name in summaries for time in _seen(summaries[name])]
    threshold = "before" if times and part.fixed < min(times) else "after"
    own, over = finding("own"), finding("resplits")
    return PartResult(part, own, over, same_splits, threshold if times else "not run")


def _seen(summary: Summary) -> Iterator[datetime]:
    """Yield when results of a run could be seen."""
    for session in summary.run.manifest.sessions:
        if session.started:
            yield datetime.fromisoformat(session.started)
    if (known := glossary().seen.get(summary.run.name)) is not None:
        yield known
