"""The view of a predicate on a sub-claim: its rows in one view, and their differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.names import (
    amount_text,
    difference_text,
    family_name,
    lower_is_better,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.summary import MEAN_LEVEL, Row
from ddr_cli.comparison.within_dataset import difference_interval, paired
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.evaluation.statistics import t_above, t_quantile
from ddr_cli.papers.lookup import Lookup, nearest_place
from ddr_cli.papers.questions import EXACT, NotSweptError, Outcome, Selector, UnansweredError

_NO_INTERVAL = "a confidence interval requires results on at least two re-splits"

Series = list[tuple[float, Row]]
"""Grid values in ascending order, and the row at each."""


class Estimate(NamedTuple):
    """A mean and its 95 % interval over `n` splits; nan if it has none."""

    mean: float
    low: float = np.nan
    high: float = np.nan
    n: int = 1

    def p(self, *, above: float = -np.inf, below: float = np.inf) -> float:
        """Return one minus the level of the widest interval above and below the given bounds.

        It is 1 if the mean itself is outside, and nan if there is no interval.
        """
        # The interval of a rate may be clipped at 0 or 100 %; the longer side is the true
        # half-width.
        half = max(self.mean - self.low, self.high - self.mean)
        if np.isnan(half):
            return float("nan")
        distance = min(self.mean - above, below - self.mean)
        if half <= 0:
            return 0.0 if distance >= 0 else 1.0
        ratio = distance / half * t_quantile((1 + MEAN_LEVEL) / 2, self.n - 1)
        return min(1.0, 2 * t_above(ratio, self.n - 1))

    def within(self, text: str, *, above: float = -np.inf, below: float = np.inf) -> Outcome:
        """Return whether the mean lies within the bounds, ends included."""
        holds = above - EXACT <= self.mean <= below + EXACT
        return Outcome(holds, text, self.p(above=above, below=below))


@dataclass(frozen=True)
class PartView:
    """A sub-claim in one view: its rows, and the comparison of two of them.

    `select` is the row of the sub-claim or, along a parameter, its series; `than` is the row that
    it is compared with. If our results have no answer, it raises an `UnansweredError`.
    """

    rows: Lookup
    select: Selector
    than: Selector
    along: str

    @property
    def metric(self) -> str:
        """The sub-claim's metric in words."""
        return get_scale(self.rows.metric).title

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values of the sub-claim's metric are better."""
        return lower_is_better(self.rows.metric)

    def row(self) -> Row:
        """Return the part's row."""
        return self.rows.row(self.select)

    def pair(self) -> tuple[Row, Row]:
        """Return the sub-claim's row and the row that it is compared with."""
        return self.row(), self.rows.row(self.than)

    def series(self, low: float | None = None, high: float | None = None) -> Series:
        """Return the sub-claim's rows along its parameter, from `low` to `high`, both included."""
        return [
            (place, row)
            for place, row in self.rows.series(self.select, self.along)
            if (low is None or place >= low) and (high is None or place <= high)
        ]

    def common(self, low: float | None, high: float | None) -> list[tuple[float, Row, Row]]:
        """Return the grid values that both series have, and the two rows of each.

        If the other method has no such parameter, its row is the same everywhere.
        """
        ours, than = self.series(low, high), self.than
        try:
            others = self.rows.series(than, self.along)
        except NotSweptError:
            level = self.rows.row(than)
            return [(place, row, level) for place, row in ours]
        # The computed grid values of two specs may differ in the last digit.
        return [
            (place, row, other)
            for place, row in ours
            for at, other in others
            if math.isclose(place, at, rel_tol=1e-9)
        ]

    def at(self, target: float) -> tuple[float, Row]:
        """Return the grid value of the series nearest to the target, and its row."""
        places = dict(self.series())
        place = nearest_place(places, target)
        return place, places[place]

    def gain(self, *pairs: tuple[Row, Row]) -> tuple[Estimate, str]:
        """Return how much better the first rows are on average, and its description."""
        what = "mean difference" if len(pairs) > 1 else "difference"
        if self.lower_is_better:
            pairs = tuple((second, first) for first, second in pairs)
            return self.difference(*pairs, what=f"{what} (second minus first)")
        return self.difference(*pairs, what=f"{what} (first minus second)")

    def difference(self, *pairs: tuple[Row, Row], what: str) -> tuple[Estimate, str]:
        """Return the mean of first - second, averaged over several pairs, and its description.

        `what` names the difference. Over re-splits, and only there, it must have an interval.
        """
        try:
            if self.rows.view == "own":
                means = [paired(first, second).values.mean() for first, second in pairs]
                mean = float(np.mean(means))
                return Estimate(mean), f"; {what}: {self.points(mean)}"
            found = difference_interval(*pairs)
        except InputError as error:
            raise UnansweredError(str(error).rstrip(".")) from None
        if found is None:
            raise UnansweredError(_NO_INTERVAL)
        if np.isnan(found.p_value):
            raise UnansweredError(found.name)
        return Estimate(found.mean, found.low, found.high, found.n), (
            f"; {what}: {self.points(found.mean)}, with a {100 * MEAN_LEVEL:g} % interval of "
            f"{self.points(found.low, unit=False)} to {self.points(found.high, unit=False)} over "
            f"{family_name(pairs[0][0].family, found.n)}, {found.name}"
        )

    def level(self, row: Row) -> tuple[Estimate, str]:
        """Return a row's mean, over re-splits with its interval, and its description."""
        if self.rows.view == "own":
            return Estimate(float(row["mean"])), ""
        if np.isnan(row["mean_low"]):
            raise UnansweredError(_NO_INTERVAL)
        return Estimate(float(row["mean"]), row["mean_low"], row["mean_high"], int(row["n"])), (
            f", with a {100 * MEAN_LEVEL:g} % interval of {self.show(row['mean_low'])} to "
            f"{self.show(row['mean_high'])} over {family_name(row.family, row['n'])}, "
            f"{row['mean_interval']}"
        )

    def estimate(self, values: NDArray[np.float64]) -> Estimate:
        """Return the mean of independent values, such as times, with its t-interval."""
        n, mean = len(values), float(values.mean())
        half = t_quantile((1 + MEAN_LEVEL) / 2, n - 1) * float(values.std(ddof=1) / np.sqrt(n))
        return Estimate(mean, mean - half, mean + half, n)

    def show(self, value: float) -> str:
        """Return a value of the sub-claim's metric as text."""
        return number(value, self.rows.metric)

    def points(self, difference: float, *, unit: bool = True) -> str:
        """Return a difference of two values as text."""
        return difference_text(difference, self.rows.metric, unit=unit)

    def amount(self, difference: float) -> str:
        """Return the size of a difference of two values as text."""
        return amount_text(difference, self.rows.metric)

    def place(self, value: float) -> str:
        """Return a grid value as text, such as ``β = 0.562``."""
        return f"{parameter_name(self.along, short=True)} = {plain(value)}"

    def show_at(self, place: float, row: Row) -> str:
        """Return a row's mean with its grid value."""
        return f"{self.show(row['mean'])} at {self.place(place)}"

    def show_row(self, row: Row) -> str:
        """Return a row's mean with its method."""
        return f"{self.show(row['mean'])} ({row.title})"

    def show_pair(self, first: Row, second: Row) -> str:
        """Return the means of two rows, with their methods, as a clause."""
        return f"the {self.metric} is {self.show_row(first)} and {self.show_row(second)}"
