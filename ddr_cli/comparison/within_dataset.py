"""Two methods on the same splits: their differences, and the interval of the mean difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.summary import Row, corrected_interval
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import MeanInterval, rate_variance

if TYPE_CHECKING:
    from ddr_cli.comparison.selection import ComparedMethod

_EQUAL = "the differences are the same on all splits, so there is no test"


@dataclass(frozen=True)
class PairedDifferences:
    """First method's scores minus the second's, and the hash of the split of each."""

    values: NDArray[np.float64]
    splits: tuple[str, ...]


def paired(first: Row, second: Row) -> PairedDifferences:
    """Return first minus second, split by split; an `InputError` if the splits differ.

    If one method was run on more splits, only the common splits are used.
    """
    # Within a family, splits are matched by name and hash: all samples give only one split, and few
    # groups give few, so repeats that differ only in the methods' randomness share a hash.
    named = first.family == second.family
    splits, others = (row.splits[named] for row in (first, second))
    both = set(splits) & set(others)
    kept = both if len(both) == min(len(splits), len(others)) else both.union(splits, others)
    mine, theirs = ([split for split in own if split in kept] for own in (splits, others))
    if mine != theirs or len(set(mine)) < len(mine):
        raise InputError(
            f"{first.summary.run.name} and {second.summary.run.name} have different splits; set "
            "the same 'seed' and 'repeats' in both specs."
        )
    a, b = (
        row.values.to_numpy()[[split in kept for split in own]]
        for row, own in ((first, splits), (second, others))
    )
    return PairedDifferences(a - b, tuple(mine))


def difference_interval(*pairs: tuple[Row, Row]) -> MeanInterval | None:
    """Return the interval of the mean of first minus second, of several pairs averaged by split.

    None with fewer than two splits, or if the sizes of the training and test sets are unknown; an
    `InputError` if the rows were not all run on the same splits. If the differences are equal but
    not zero, their variance can't be estimated: the interval and p are nan, and `name` says why.
    """
    found = [paired(first, second) for first, second in pairs]
    if len({each.splits for each in found}) > 1:
        raise InputError("Some settings have missing splits; 'ddr run' runs the missing trials.")
    first = pairs[0][0]
    if len(found[0].splits) < 2:
        return None
    values = np.mean([each.values for each in found], axis=0)
    # The variance of a mean of differences is at most the mean of their variances.
    variances = [rate_variance(a.values.mean(), b.values.mean()) for a, b in pairs]
    interval = corrected_interval(
        first.summary.run,
        first.family,
        first["metric"],
        values,
        float(np.mean(variances)),
        lowest=-1.0,
    )
    # Equal up to rounding errors.
    is_equal = np.allclose(values, values[0], rtol=1e-9, atol=1e-12)
    if interval is not None and is_equal and abs(interval.mean) > 1e-12:
        return replace(interval, low=np.nan, high=np.nan, p_value=np.nan, name=_EQUAL)
    return interval


def meetings(
    first: Sequence[ComparedMethod], second: Sequence[ComparedMethod]
) -> dict[str, list[tuple[ComparedMethod, ComparedMethod]]]:
    """Return, by data set, the rows in which two methods share splits.

    They come from a run that has both methods; otherwise from runs with the same preprocessing;
    otherwise from any runs.
    """
    found = {}
    for dataset in dict.fromkeys(entry.place.dataset for entry in first):
        pairs = [(a, b) for a in first for b in second]
        pairs = [(a, b) for a, b in pairs if a.place.dataset == b.place.dataset == dataset]
        met = [(a, b) for a, b in pairs if a.place is b.place]
        if not met:
            met = [(a, b) for a, b in pairs if _have_same_splits(a.row, b.row)]
            specs = [(a.place.run.spec, b.place.run.spec) for a, b in met]
            alike = [
                pair
                for pair, (a, b) in zip(met, specs, strict=True)
                if (a.dataset, a.preprocess) == (b.dataset, b.preprocess)
            ]
            met = alike or met
        if met:
            found[dataset] = met
    return found


def _have_same_splits(first: Row, second: Row) -> bool:
    try:
        paired(first, second)
    except InputError:
        return False
    return True
