"""Training times beside printed ones, as ratios: machines differ, ratios less so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ddr_cli.papers.printed import Printed
from ddr_cli.papers.selectors import Selector
from ddr_cli.report.names import method_name
from ddr_cli.report.select import Row
from ddr_cli.report.verdicts import NumberResult


@dataclass(frozen=True)
class TimeResult:
    """The time of one method as a multiple of another's.

    Parameters
    ----------
    printed : Printed
        The number whose time it is.
    other : str
        The name of the other method.
    printed_ratio, ratio : float
        As printed and ours; nan where one of the times is missing or the other's is zero.
    seconds, other_seconds : float
        Ours: CPU seconds per fit, mean over the splits.
    """

    printed: Printed
    other: str
    printed_ratio: float
    ratio: float
    seconds: float
    other_seconds: float


def times_of(results: Sequence[NumberResult]) -> dict[str, TimeResult]:
    """Return the times of an artefact's numbers that are compared with another, by their ids."""
    found = {}
    for result in results:
        seconds = result.printed.seconds
        if seconds is None or seconds.than is None:
            continue
        other = _beside(results, seconds.than)
        assert other.printed.seconds is not None  # which the paper's file has been checked for
        ours, theirs = _seconds(result), _seconds(other)
        found[result.printed.id] = TimeResult(
            result.printed,
            _name(other),
            _ratio(seconds.value, other.printed.seconds.value),
            _ratio(ours, theirs),
            ours,
            theirs,
        )
    return found


def ratio_text(ratio: float) -> str:
    """Return a ratio to two digits, such as ``140 x`` or ``0.35 x``."""
    if np.isnan(ratio):
        return "–"
    if ratio == 0:
        return "0 ×"  # the sign is meant
    if ratio >= 10:
        digits = 1 - int(np.floor(np.log10(ratio)))
        return f"{round(ratio, digits):.0f} ×"  # the sign is meant
    return f"{ratio:.2g} ×"  # the sign is meant


def _beside(results: Sequence[NumberResult], selector: Selector) -> NumberResult:
    return next(
        each for each in results if each.printed.seconds and each.printed.select == selector
    )


def _name(result: NumberResult) -> str:
    row = _row(result)
    return method_name(result.printed.select.reducer) if row is None else row["reducer_label"]


def _row(result: NumberResult) -> Row | None:
    return result.own.row or result.resplits.row


def _seconds(result: NumberResult) -> float:
    row = _row(result)
    if row is None:
        return float("nan")
    trials = row.summary.run.trials.loc[row.summary.members[row.index]]
    return float(trials["fit_seconds"].mean())


def _ratio(first: float, second: float) -> float:
    return first / second if second > 0 else float("nan")
