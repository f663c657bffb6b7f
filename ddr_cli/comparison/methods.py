"""Methods against each other: paired inside a run, by their ranks across runs.

Inside a run all methods saw the same splits; differences are paired, and intervals and tests allow
for the overlap of the splits (see `ddr_cli.evaluation.statistics`). Across data sets a split counts
for nothing: each data set gives one rank to each method (Friedman's test with Nemenyi's, after
Demsar, JMLR 7, 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from ddr_cli.comparison.names import lower_is_better
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import MEAN_LEVEL, Row, Summary, best_index, summarize
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.evaluation.statistics import (
    MeanInterval,
    PairedDifferences,
    mean_interval,
    paired_differences,
    rate_variance,
)

FEWEST_RANKED = 3
"""Data sets, and methods, that a test of ranks needs."""


def paired(first: Row, second: Row) -> PairedDifferences:
    """Return first minus second, split by split; an `InputError` if the splits are not the same.

    Where one was run on more splits, the others' are what both have.
    """
    splits, others = list(first.trials["split_hash"]), list(second.trials["split_hash"])
    if first.family == second.family:
        # One hash may stand for several repeats, which differ in the methods' own randomness: of
        # all points there is but one split, and of few groups there are few.
        splits, others = (
            [" ".join(names) for names in zip(row.trials["split"], hashes, strict=True)]
            for row, hashes in ((first, splits), (second, others))
        )
    both = set(splits) & set(others)
    if len(both) == min(len(splits), len(others)) < max(len(splits), len(others)):
        mine, theirs = (np.isin(each, list(both)) for each in (splits, others))
    else:
        mine, theirs = np.full(len(splits), True), np.full(len(others), True)
    try:
        return paired_differences(
            first.values[mine],
            second.values[theirs],
            splits_first=[split for split, taken in zip(splits, mine, strict=True) if taken],
            splits_second=[split for split, taken in zip(others, theirs, strict=True) if taken],
        )
    except InputError:
        raise InputError(
            f"{first.summary.run.name} and {second.summary.run.name} were not run on the same "
            "splits; run both with the same seed and repeats."
        ) from None


def difference_interval(*pairs: tuple[Row, Row]) -> MeanInterval | None:
    """Return the interval of the mean of first minus second, of several pairs averaged by split.

    None with fewer than two splits, or where the sizes of their parts are not known; an
    `InputError` if the rows were not all run on the same splits.
    """
    found = [paired(first, second) for first, second in pairs]
    if len({each.splits for each in found}) > 1:
        raise InputError("The places were not all run on the same splits.")
    first = pairs[0][0]
    sizes = first.summary.run.sizes(first.family)
    if len(found[0].splits) < 2 or sizes is None or min(sizes) == 0:
        return None
    scale = get_scale(first["metric"])
    # A mean of several differences varies no more than these do on average.
    variances = [rate_variance(a.values.mean(), b.values.mean()) for a, b in pairs]
    return mean_interval(
        np.mean([each.values for each in found], axis=0),
        MEAN_LEVEL,
        n_train=sizes[0],
        n_test=sizes[1],
        # Points of one group are not drawn one by one.
        point_variance=float(np.mean(variances))
        if scale.of_points and not first.family.startswith("grouped")
        else None,
        within=(-1, 1) if scale.rate else (-np.inf, np.inf),
    )


@dataclass(frozen=True)
class Ranks:
    """The methods' ranks over several runs, by their means (runs down, methods across).

    Rank 1 is the best; equal means share their ranks. Friedman's test of no difference is nan with
    fewer than three runs or methods.
    """

    means: pd.DataFrame
    average: pd.Series[float]
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """What methods did in one or more runs; `ranks` are None for a single one.

    `rows` holds one per run and method: `setting` is the best one of a sweep, `difference` is to
    the method `against` on the same splits, `low` and `high` its 95 % interval, `p_value` that of
    the t-test, `interval` the correction that both have.
    """

    metric: str
    against: str
    rows: pd.DataFrame
    ranks: Ranks | None


def compare(
    folders: Sequence[Path], *, metric: str | None = None, against: str | None = None
) -> Comparison:
    """Compare the methods of one or more runs, of a swept parameter each one's best setting.

    Parameters
    ----------
    folders : sequence of Path
        Result folders.
    metric : str, optional
        The first of the first run's if not given.
    against : str, optional
        A method as the result shows it, such as ``NMMP`` or ``NMMP, k-NN``; the first of the
        first run if not given.

    Raises
    ------
    InputError
        If a folder holds no complete run with repeated splits, a run lacks the metric, or no
        method is called `against`.
    """
    summaries = [summarize(load_run(folder)) for folder in folders]
    metric = metric or summaries[0].run.spec.metrics[0]
    found = {summary.run.name: _methods(summary, metric) for summary in summaries}
    reference = _find(against, found.values())
    rows = pd.DataFrame(
        [
            _record(run, method, row, methods.get(reference))
            for run, methods in found.items()
            for method, row in methods.items()
        ]
    )
    ranks = _ranks(rows, metric) if len(found) > 1 else None
    return Comparison(metric, reference, rows, ranks)


def _methods(summary: Summary, metric: str) -> dict[str, Row]:
    """Return each method's best row over repeated splits."""
    run = summary.run
    if metric not in run.spec.metrics:
        hint = did_you_mean(metric, run.spec.metrics) or f" It has {', '.join(run.spec.metrics)}."
        raise InputError(f"{run.name} has no metric '{metric}'.{hint}")
    family = run.spec.split.kind
    rows = summary.rows[(summary.rows["metric"] == metric) & (summary.rows["split"] == family)]
    rows = rows[rows["n"] == rows["planned"]]
    if rows.empty or rows["n"].max() < 2:
        raise InputError(
            f"{run.name} has no method that ended well on two repeated splits or more; methods "
            "can't be compared on one."
        )
    evaluators = rows["classifier_label"].nunique()
    found: dict[str, Row] = {}
    for (reducer, evaluator), group in rows.groupby(
        ["reducer_label", "classifier_label"], sort=False
    ):
        name = f"{reducer}, {evaluator}" if evaluators > 1 else str(reducer)
        found[name] = Row(summary, best_index(group["mean"], metric))
    return found


def _find(requested: str | None, runs: Iterable[dict[str, Row]]) -> str:
    known = list(dict.fromkeys(name for methods in runs for name in methods))
    if requested is None:
        return known[0]
    for name in known:
        if requested.casefold() in (name.casefold(), name.partition(",")[0].casefold()):
            return name
    hint = did_you_mean(requested, known) or f" There are {'; '.join(known)}."
    raise InputError(f"No method is called '{requested}'.{hint}")


def _record(run: str, method: str, row: Row, other: Row | None) -> dict[str, object]:
    record: dict[str, object] = {
        "run": run,
        "method": method,
        "setting": row.setting,
        "n": row["n"],
        "mean": row["mean"],
        "sd": row["sd"],
    }
    if other is None or other.index == row.index:
        return record
    record["difference"] = float(paired(row, other).values.mean())
    found = difference_interval((row, other))
    if found is not None:
        record |= {"low": found.low, "high": found.high, "p_value": found.p_value}
        record["interval"] = found.name
    return record


def _ranks(rows: pd.DataFrame, metric: str) -> Ranks:
    means = rows.pivot_table(index="run", columns="method", values="mean", sort=False)
    means = means.dropna(axis="columns")
    if means.shape[1] < 2:
        raise InputError("The runs have fewer than two methods in common, so there are no ranks.")
    # Means that differ by rounding alone are equal.
    ranks = means.round(12).rank(axis="columns", ascending=lower_is_better(metric))
    statistic = p_value = float("nan")
    if min(means.shape) >= FEWEST_RANKED:
        test = stats.friedmanchisquare(*(means[name] for name in means))
        statistic, p_value = float(test.statistic), float(test.pvalue)
    return Ranks(means, ranks.mean().sort_values(), statistic, p_value)
