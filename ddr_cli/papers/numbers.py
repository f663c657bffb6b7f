"""The printed numbers of a paper judged: our row -> mean and its uncertainty -> verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ddr_cli.comparison.names import difference_text, is_rate, lower_is_better, method_name, number
from ddr_cli.comparison.summary import Row, Summary
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
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


def verdict_on(
    mean: float, uncertainty: float, entry: PrintedNumber, *, trivial: bool = False
) -> Verdict:
    """Return the verdict on a mean of ours next to a printed number.

    With p the printed number, t its tolerance (see `tolerance_of`), m our mean and u the half-width
    of its 95 % interval (0 on one split):

    - **uninformative** when u > 2 t and the interval reaches p - t to p + t: ours may be anything;
    - **reproduced** when abs(m - p) <= t and u <= t;
    - **close** when abs(m - p) is at most 2 t, or t + u;
    - **differs (higher)** or **differs (lower)** beyond;
    - **not testable** where the paper prints no number.

    In a `trivial` row of a table the majority-class baseline does as well as every method (none is
    further above it than the glossary's `trivial`). Nothing is reproduced or close there: agreement
    is uninformative.
    """
    if entry.value is None:
        return "not testable"
    tolerance = tolerance_of(entry) + EXACT
    difference = mean - entry.value.value
    apart = abs(difference)
    if uncertainty > 2 * tolerance and apart <= tolerance + uncertainty:
        return "uninformative"
    if apart <= tolerance and uncertainty <= tolerance:
        return "uninformative" if trivial else "reproduced"
    if apart <= max(2 * tolerance, tolerance + uncertainty):
        return "uninformative" if trivial else "close"
    return "differs (higher)" if difference > 0 else "differs (lower)"


def tolerance_of(entry: PrintedNumber) -> float:
    """Return how far ours may be from a printed number that it reproduces.

    It is a percentage point or a dimension, or the printed standard deviation if that is larger.
    """
    rule = glossary().numbers
    least = rule.rate_tolerance if is_rate(entry.metric) else rule.dimension_tolerance
    return max(least, entry.sd.value if entry.sd is not None else 0.0)


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on one printed number through one view, and the row that it rests on.

    `reason` says why there is no row, `note` whom a difference flatters, and what is trivial.
    """

    verdict: Verdict
    row: Row | None = None
    reason: str | None = None
    note: str = ""

    @property
    def setting(self) -> str:
        """The swept parameters of the row, such as ``β = 0.562``."""
        return "" if self.row is None else self.row.setting


@dataclass(frozen=True)
class NumberResult(Judged[PrintedNumber, NumberVerdict]):
    """A printed number and what became of it, in the paper's own setting and over re-splits."""

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
        except UnansweredError as error:
            rows.append(error)
            continue
        together[_table_row(entry)].append(row)
    trivial = {key: _trivial(group) if key else "" for key, group in together.items()}
    found = []
    for entry, each in zip(artefact.printed, rows, strict=True):
        if isinstance(each, UnansweredError):
            found.append(NumberVerdict(each.verdict, reason=str(each)))
            continue
        mean = float(each["mean"])
        half = max(mean - each["mean_low"], each["mean_high"] - mean)
        uncertainty = 0.0 if np.isnan(half) else float(half)
        words = trivial.get(_table_row(entry), "")
        verdict = verdict_on(mean, uncertainty, entry, trivial=bool(words))
        is_constant = words and each["n"] > 1 and each["sd"] < EXACT
        notes = [words, "a constant answer" if is_constant else ""]
        if verdict_on(mean, uncertainty, entry) != "reproduced":
            notes.insert(0, _flattered(entry, mean, method))
        found.append(NumberVerdict(verdict, each, note="; ".join(filter(None, notes))))
    return found


def _table_row(entry: PrintedNumber) -> tuple[str, str | None] | None:
    """Return the row of the paper's table whose accuracies are looked at together, if any."""
    is_accuracy = entry.metric in ("accuracy", "error")
    return (entry.row, entry.reading) if entry.row is not None and is_accuracy else None


def _flattered(entry: PrintedNumber, mean: float, method: str) -> str:
    """Return in words whom the difference from a printed number flatters."""
    if entry.value is None or not method or not is_rate(entry.metric):
        return ""
    difference = mean - entry.value.value
    whose = "the paper's method" if entry.select.reducer == method else "a rival"
    if entry.select.reducer == "none":
        whose = "no reduction"
    flatters = (difference < 0) == lower_is_better(entry.metric)
    apart = difference_text(abs(difference), entry.metric).lstrip("+")
    return f"{apart} {'in favour of' if flatters else 'against'} {whose}"


def _trivial(rows: Sequence[Row]) -> str:
    """Return in words that the majority-class baseline does as well as a table's row, or ''."""
    try:
        classes = load_card(rows[0].summary.run.spec.dataset.name).expect.classes
    except InputError:
        return ""
    if not classes:
        return ""
    largest, metric = max(classes.values()) / sum(classes.values()), rows[0]["metric"]
    best = max(1 - row["mean"] if metric == "error" else row["mean"] for row in rows)
    if best > largest + glossary().numbers.trivial + EXACT:
        return ""
    level = number(1 - largest if metric == "error" else largest, metric)
    return f"always naming the largest class gives {level}, as much as any method of the row"


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
