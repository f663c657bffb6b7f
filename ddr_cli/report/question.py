"""A claim looked at through one view: its rows, and what a comparison of two of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import (
    PairedDifferences,
    corrected_interval,
    paired_differences,
)
from ddr_cli.papers.schema import Claim
from ddr_cli.papers.selectors import Selector
from ddr_cli.report.names import (
    difference_text,
    family_name,
    number,
    parameter_name,
    plain,
)
from ddr_cli.report.select import (
    OWN,
    NotSweptError,
    Row,
    UnansweredError,
    View,
    nearest_place,
    series,
    single_row,
)
from ddr_cli.report.summary import MEAN_LEVEL, Summary

Places = list[tuple[float, Row]]
"""A series: places on a grid in ascending order, and the row at each."""


@dataclass(frozen=True)
class Question:
    """A claim through one view.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    spec : str
        The run that its selectors mean where they name none.
    summaries : mapping of str to Summary
        All runs by name.
    view : View
        The paper's own split, or re-splits.
    means_only : bool
        Whether the means alone decide over re-splits too.
    """

    claim: Claim
    spec: str
    summaries: Mapping[str, Summary]
    view: View
    means_only: bool = False

    @property
    def metric(self) -> str:
        """The metric that the claim speaks of."""
        return self.claim.metric

    def row(self, selector: Selector) -> Row:
        """Return the row that a selector means."""
        return single_row(self.summaries, self.spec, selector, self.view, self.metric)

    def pair(self) -> tuple[Row, Row]:
        """Return the claim's row and the one that it is compared with."""
        if self.claim.than is None:
            raise UnansweredError("the claim names nothing to compare with")
        return self.row(self.claim.select), self.row(self.claim.than)

    def series(self) -> Places:
        """Return the claim's rows along its parameter."""
        return self._along(self.claim.select)

    def common(self) -> list[tuple[float, Row, Row]]:
        """Return the places that the claim's series shares with the other one, and both rows.

        Where the other one has no such parameter it is the same everywhere.
        """
        if self.claim.than is None:
            raise UnansweredError("the claim names nothing to compare with")
        ours = self.series()
        try:
            others = self._along(self.claim.than)
        except NotSweptError:
            level = self.row(self.claim.than)
            return [(place, row, level) for place, row in ours]
        # A grid of dividing steps has its places to the last digit only within one spec.
        return [
            (place, row, other)
            for place, row in ours
            for at, other in others
            if np.isclose(place, at, rtol=1e-9, atol=0.0)
        ]

    def _along(self, selector: Selector) -> Places:
        along = self.claim.along or ""
        return series(self.summaries, self.spec, selector, along, self.view, self.metric)

    def at(self, wanted: float) -> tuple[float, Row]:
        """Return the place of the series nearest to the wanted one, and its row."""
        places = dict(self.series())
        place = nearest_place(places, wanted)
        return place, places[place]

    def show(self, value: float) -> str:
        """Return a value of the claim's metric as text."""
        return number(value, self.metric)

    def place(self, value: float) -> str:
        """Return a place as text, such as ``β = 0.562``."""
        return f"{parameter_name(self.claim.along or '', short=True)} = {plain(value)}"

    def is_above(self, first: Row, second: Row, margin: float = 0.0) -> tuple[float, bool, str]:
        """Return the mean of first - second, whether first is shown to be above, and the words.

        The mean difference must be at least `margin` and, on the paper's own split, above zero;
        over re-splits the lower end of its corrected interval must be above zero.

        Raises
        ------
        UnansweredError
            If the rows are no pairs, or an interval is needed and can't be had.
        """
        differences = paired(first, second)
        mean = float(differences.values.mean())
        if self.view is OWN or self.means_only:
            return mean, mean > 0 and mean >= margin, ""
        interval = _interval(first, differences)
        if interval is None:
            raise UnansweredError("a corrected interval needs two re-splits or more")
        low, high = interval
        return mean, low > 0 and mean >= margin, self._words(first, differences, low, high)

    def is_above_on_average(self, pairs: list[tuple[Row, Row]]) -> tuple[bool, str]:
        """Tell whether the first rows are above the second ones on average, and in which words.

        In the paper's own setting the means alone decide, so that there is nothing to add. Over
        re-splits the differences of all pairs are averaged split by split, and the corrected
        interval of that average must lie above zero.

        Raises
        ------
        UnansweredError
            As `is_above`.
        """
        differences = [paired(first, second) for first, second in pairs]
        if self.view is OWN or self.means_only:
            return True, ""
        if len({each.splits for each in differences}) > 1:
            raise UnansweredError("the places were not all run on the same splits")
        average = PairedDifferences(
            np.mean([each.values for each in differences], axis=0), differences[0].splits
        )
        row = pairs[0][0]
        interval = _interval(row, average)
        if interval is None:
            raise UnansweredError("a corrected interval needs two re-splits or more")
        return interval[0] > 0, self._words(row, average, *interval, what="average difference")

    def compared(self, first: Row, second: Row) -> str:
        """Return the words for the difference first - second, empty where there is no interval."""
        differences = paired(first, second)
        interval = None if self.view is OWN else _interval(first, differences)
        return "" if interval is None else self._words(first, differences, *interval)

    def spread(self, row: Row) -> str:
        """Return the words for the corrected interval of a row's mean, over re-splits."""
        if self.view is OWN or np.isnan(row["mean_low"]):
            return ""
        return (
            f" ({100 * MEAN_LEVEL:g} % corrected interval {self.show(row['mean_low'])} to "
            f"{self.show(row['mean_high'])} over {family_name(row.family, row['n'])})"
        )

    def _words(
        self,
        row: Row,
        differences: PairedDifferences,
        low: float,
        high: float,
        what: str = "difference",
    ) -> str:
        mean = difference_text(float(differences.values.mean()), self.metric)
        return (
            f"; {what} {mean}, {100 * MEAN_LEVEL:g} % corrected interval "
            f"{difference_text(low, self.metric, unit=False)} to "
            f"{difference_text(high, self.metric, unit=False)} over "
            f"{family_name(row.family, len(differences.values))}"
        )


def paired(first: Row, second: Row) -> PairedDifferences:
    """Return first minus second, split by split.

    Raises
    ------
    UnansweredError
        If the two were not run on the same splits: then they are no pairs.
    """
    a, b = first.values(), second.values()
    # Splits of all points have one hash; there the repeats differ in the methods' own randomness.
    name = "split" if first.family == second.family == "whole" else "split_hash"
    try:
        return paired_differences(
            a["value"],
            b["value"],
            splits_first=list(a[name]),
            splits_second=list(b[name]),
        )
    except InputError:
        raise UnansweredError(
            f"{first.summary.run.name} and {second.summary.run.name} were not run on the same "
            "splits; run both with the same seed and repeats"
        ) from None


def _interval(row: Row, differences: PairedDifferences) -> tuple[float, float] | None:
    sizes = row.summary.run.sizes(row.family)
    if len(differences.values) < 2 or sizes is None:
        return None
    found = corrected_interval(differences, MEAN_LEVEL, n_train=sizes[0], n_test=sizes[1])
    return found.low, found.high
