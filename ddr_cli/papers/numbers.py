"""Judges the printed numbers of a paper: our row -> mean and its uncertainty -> verdict."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ddr_cli.comparison.names import difference_text, is_rate, lower_is_better, method_name, number
from ddr_cli.comparison.summary import Row, Summary
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.papers.claims import ClaimResult
from ddr_cli.papers.lookup import VIEWS, Judged, Lookup, View
from ddr_cli.papers.questions import EXACT, UnansweredError
from ddr_cli.papers.schema import Artefact, PrintedNumber, glossary

Verdict = Literal[
    "reproduced",
    "close",
    "differs (higher)",
    "differs (lower)",
    "differs",
    "uninformative",
    "not testable",
    "not run",
    "not applicable",
]


_MISSED = ("close", "differs (higher)", "differs (lower)")


def verdict_on(
    mean: float, error: float, entry: PrintedNumber, *, trivial: bool = False
) -> Verdict:
    """Return the verdict on a mean of ours compared with a printed number.

    With p the printed number, r half a unit of its last digit, b its band (see `band_of`), m our
    mean and e the Monte-Carlo error of both (see `monte_carlo_error`; 0 for one split):

    - **reproduced** when abs(m - p) <= 2 e + r;
    - **close** beyond that, when abs(m - p) <= b;
    - **differs (higher)** or **differs (lower)** beyond;
    - **uninformative** instead of reproduced or close, if 2 e > b, because a mean at the edge of
      the band would still agree, or in a `trivial` row of a table, in which the majority-class
      baseline is as good as every method (no method exceeds it by more than the glossary's
      `trivial`);
    - **not testable** where the paper prints no number.
    """
    if entry.value is None:
        return "not testable"
    difference = mean - entry.value.value
    apart, reach, band = abs(difference) - EXACT, reach_of(error, entry), band_of(entry)
    if apart > max(reach, band):
        return "differs (higher)" if difference > 0 else "differs (lower)"
    if trivial or 2 * error > band:
        return "uninformative"
    return "reproduced" if apart <= reach else "close"


def reach_of(error: float, entry: PrintedNumber) -> float:
    """Return how far a mean may be from a printed number to reproduce it."""
    return 2 * error + (entry.value.rounding if entry.value is not None else 0.0)


def band_of(entry: PrintedNumber) -> float:
    """Return how far a mean may be from a printed number to be close to it.

    It is a percentage point or a dimension, or the printed standard deviation if that is larger.
    """
    rule = glossary().numbers
    least = rule.rate_band if is_rate(entry.metric) else rule.dimension_band
    return max(least, entry.sd.value if entry.sd is not None else 0.0)


def monte_carlo_error(row: Row, entry: PrintedNumber, splits: int | None) -> float:
    """Return sqrt(s²/J + s_p²/J_p), the Monte-Carlo error of our mean and of the printed one.

    The paper's standard deviation s_p and its number of `splits` J_p are as printed, otherwise
    ours. One split of ours has none: 0.
    """
    n, sd = int(row["n"]), float(row["sd"])
    if n == 1:
        return 0.0
    printed_sd = sd if entry.sd is None else entry.sd.value
    return math.sqrt(sd**2 / n + printed_sd**2 / (splits or n))


def binomial_error(row: Row) -> float:
    """Return the standard error of an accuracy on the test samples of one split, or nan."""
    sizes = row.summary.run.sizes(row.family)
    if row["n"] > 1 or sizes is None or not get_scale(row["metric"]).of_points:
        return math.nan
    mean = float(row["mean"])
    return math.sqrt(mean * (1 - mean) / sizes[1])


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on one printed number in one view, and its row.

    `difference` is ours minus printed, and `error` the Monte-Carlo error of both means, 0 for one
    split. `reason` states why there is no row; `note` states which method the difference favours,
    and whether the majority-class baseline is as good.
    """

    verdict: Verdict
    row: Row | None = None
    difference: float = math.nan
    error: float = math.nan
    reason: str | None = None
    note: str = ""

    @property
    def setting(self) -> str:
        """The swept parameters of the row, such as ``β = 0.562``."""
        return "" if self.row is None else self.row.setting


@dataclass(frozen=True)
class NumberResult(Judged[PrintedNumber, NumberVerdict]):
    """A printed number and its verdicts, in the paper's own setting and over re-splits.

    `claims` are the paper's claims about the same row of ours.
    """

    claims: tuple[ClaimResult, ...] = ()

    @property
    def row(self) -> Row | None:
        """Our row, in the paper's own setting if there is one."""
        return self.own.row or self.resplits.row

    @property
    def fit_seconds(self) -> float:
        """Our CPU seconds per fit, the mean over the splits; nan if there are none."""
        return float("nan") if self.row is None else float(self.row.trials["fit_seconds"].mean())

    @property
    def method(self) -> str:
        """The reducer's name as shown."""
        name = method_name(self.entry.select.reducer)
        return name if self.row is None else str(self.row["reducer_label"])


def judge_numbers(
    artefact: Artefact, summaries: Mapping[str, Summary], method: str = ""
) -> tuple[NumberResult, ...]:
    """Return a result for each printed number of an artefact; `method` is the paper's own."""
    own, over = (_judge_through(view, artefact, summaries, method) for view in VIEWS)
    return tuple(map(NumberResult, artefact.printed, own, over))


def _judge_through(
    view: View, artefact: Artefact, summaries: Mapping[str, Summary], method: str
) -> list[NumberVerdict]:
    rows: list[Row | UnansweredError] = []
    together: dict[tuple[str, str | None] | None, list[Row]] = defaultdict(list)
    for entry in artefact.printed:
        lookup = Lookup(summaries, artefact.specs[0], view, entry.metric, artefact.resplits)
        try:
            rows.append(row := lookup.row(entry.select))
        except UnansweredError as unanswered:
            rows.append(unanswered)
            continue
        together[_table_row(entry)].append(row)
    trivial = {key: _trivial(group) if key else "" for key, group in together.items()}
    found = []
    for entry, each in zip(artefact.printed, rows, strict=True):
        if isinstance(each, UnansweredError):
            found.append(NumberVerdict(each.verdict, reason=str(each)))
            continue
        words = trivial.get(_table_row(entry), "")
        mean, error = float(each["mean"]), monte_carlo_error(each, entry, artefact.splits)
        verdict = verdict_on(mean, error, entry, trivial=bool(words))
        apart = mean - entry.value.value if entry.value is not None else math.nan
        is_constant = words and each["n"] > 1 and each["sd"] < EXACT
        notes = [words, "the method always predicts one class" if is_constant else ""]
        if verdict in _MISSED:
            notes.insert(0, _favoured(entry, apart, method))
        note = "; ".join(filter(None, notes))
        found.append(NumberVerdict(verdict, each, apart, error, note=note))
    return found


def _table_row(entry: PrintedNumber) -> tuple[str, str | None] | None:
    """Return the row of the paper's table whose accuracies are judged together, if any."""
    is_accuracy = entry.metric in ("accuracy", "error")
    return (entry.row, entry.reading) if entry.row is not None and is_accuracy else None


def _favoured(entry: PrintedNumber, difference: float, method: str) -> str:
    """Return in words which method the difference from a printed number favours."""
    if not method or not is_rate(entry.metric):
        return ""
    whose = "the paper's method" if entry.select.reducer == method else "a competing method"
    if entry.select.reducer == "none":
        whose = "no reduction"
    favours = (difference < 0) == lower_is_better(entry.metric)
    apart = difference_text(abs(difference), entry.metric).lstrip("+")
    return f"{apart} {'in favour of' if favours else 'against'} {whose}"


def _trivial(rows: Sequence[Row]) -> str:
    """Return a note that the majority-class baseline is as good as a table's row, or ''."""
    metric = rows[0]["metric"]
    baseline = rows[0].summary.run.majority(metric)
    if baseline is None:
        return ""
    sign = -1 if lower_is_better(metric) else 1
    if max(sign * (row["mean"] - baseline) for row in rows) > glossary().numbers.trivial + EXACT:
        return ""
    level = number(baseline, metric)
    return f"no method in this row is clearly better than the majority-class baseline ({level})"


# -- training times, as ratios: machines differ, ratios less so -----------------------------------


class TimeRatio(NamedTuple):
    """The time of one method as a multiple of another's, as printed and ours; nan if unknown."""

    other: str
    printed: float
    ours: float


def time_ratios(results: Sequence[NumberResult]) -> dict[str, TimeRatio]:
    """Return the times of an artefact's numbers that are compared with another, by their ids."""
    by_id = {each.entry.id: each for each in results}
    return {
        each.entry.id: TimeRatio(
            other.method,
            _ratio(each.entry.seconds, other.entry.seconds),
            _ratio(each.fit_seconds, other.fit_seconds),
        )
        for each in results
        if (other := by_id.get(each.entry.seconds_than or "")) is not None
    }


def _ratio(first: float | None, second: float | None) -> float:
    return first / second if first is not None and second else float("nan")
