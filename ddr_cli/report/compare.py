"""Methods against each other: paired inside a run, by their ranks across runs.

Inside a run all methods saw the same splits; differences are paired, and intervals and tests allow
for the overlap of the splits (Nadeau and Bengio 2003). Across data sets a split counts for nothing:
each data set gives one rank to each method (Friedman's test with Nemenyi's, after Demsar, JMLR 7,
2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.evaluation.statistics import corrected_interval, corrected_ttest
from ddr_cli.report.names import lower_is_better, metric_axis
from ddr_cli.report.question import paired
from ddr_cli.report.runs import load_run
from ddr_cli.report.select import Row, UnansweredError, best_place
from ddr_cli.report.style import house_style, look, new_figure
from ddr_cli.report.summary import MEAN_LEVEL, Summary, summarize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST = 3  # data sets, and methods, for a test of ranks


@dataclass(frozen=True)
class Ranks:
    """The methods' ranks over several runs.

    Parameters
    ----------
    means : DataFrame of shape (n_runs, n_methods)
        The mean of each method in each run.
    average : Series
        The average rank of each method, 1 the best; equal means share their ranks.
    statistic, p_value : float
        Friedman's test of no difference between the methods; nan with fewer than three runs or
        methods.
    """

    means: pd.DataFrame
    average: pd.Series[float]
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """What methods did in one or more runs.

    Parameters
    ----------
    metric : str
        What was compared.
    against : str
        The method that differences are to.
    rows : DataFrame
        One row per run and method: `run`, `method`, `setting` (the best one of a sweep), `n`,
        `mean`, `sd`, `difference` (to the method `against` on the same splits), `low` and `high`
        (95 % corrected interval of the difference) and `p_value` (corrected t-test).
    ranks : Ranks or None
        Over the methods that all runs have; None for a single run.
    """

    metric: str
    against: str
    rows: pd.DataFrame
    ranks: Ranks | None


def compare(
    folders: Sequence[Path], *, metric: str | None = None, against: str | None = None
) -> Comparison:
    """Compare the methods of one or more runs.

    Parameters
    ----------
    folders : sequence of Path
        Result folders. Of a swept parameter each method's best setting counts.
    metric : str, optional
        The first of the first run's if not given.
    against : str, optional
        A method as the result shows it, such as ``NMMP`` or ``NMMP, k-NN``; the first of the
        first run if not given.

    Returns
    -------
    Comparison

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
    judges = rows["classifier_label"].nunique()
    found: dict[str, Row] = {}
    for (reducer, judge), group in rows.groupby(["reducer_label", "classifier_label"], sort=False):
        name = f"{reducer}, {judge}" if judges > 1 else str(reducer)
        found[name] = Row(summary, best_place(group["mean"], metric))
    return found


def _find(wanted: str | None, runs: Iterable[dict[str, Row]]) -> str:
    known = list(dict.fromkeys(name for methods in runs for name in methods))
    if wanted is None:
        return known[0]
    for name in known:
        if wanted.casefold() in (name.casefold(), name.partition(",")[0].casefold()):
            return name
    hint = did_you_mean(wanted, known) or f" There are {'; '.join(known)}."
    raise InputError(f"No method is called '{wanted}'.{hint}")


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
    try:
        differences = paired(row, other)
    except UnansweredError as error:
        raise InputError(f"{error}.") from None
    record["difference"] = float(differences.values.mean())
    sizes = row.summary.run.sizes(row.family)
    if sizes is not None and min(sizes) > 0:
        given = {"n_train": sizes[0], "n_test": sizes[1]}
        interval = corrected_interval(differences, MEAN_LEVEL, **given)
        test = corrected_ttest(differences, **given)
        record |= {"low": interval.low, "high": interval.high, "p_value": test.p_value}
    return record


def _ranks(rows: pd.DataFrame, metric: str) -> Ranks:
    means = rows.pivot_table(index="run", columns="method", values="mean", sort=False)
    means = means.dropna(axis="columns")
    if means.shape[1] < 2:
        raise InputError("The runs have fewer than two methods in common, so there are no ranks.")
    ranks = means.rank(axis="columns", ascending=lower_is_better(metric))
    statistic = p_value = float("nan")
    if min(means.shape) >= _FEWEST:
        test = stats.friedmanchisquare(*(means[name] for name in means))
        statistic, p_value = float(test.statistic), float(test.pvalue)
    return Ranks(means, ranks.mean().sort_values(), statistic, p_value)


def draw_ranks(comparison: Comparison) -> Figure:
    """Draw a critical-difference diagram: methods that a bar joins can't be told apart.

    Raises
    ------
    InputError
        If there are fewer than three runs or methods, or scikit-posthocs is not installed.
    """
    ranks = comparison.ranks
    if ranks is None or min(ranks.means.shape) < _FEWEST:
        raise InputError(
            "A critical-difference diagram needs three runs and three methods in common or more."
        )
    try:
        import scikit_posthocs as posthocs
    except ImportError:
        raise InputError(
            "The diagram needs scikit-posthocs: pip install 'ddr[stats]', then run this again."
        ) from None

    signs = 1 if lower_is_better(comparison.metric) else -1
    values = posthocs.posthoc_nemenyi_friedman(signs * ranks.means.to_numpy())
    table = pd.DataFrame(
        np.asarray(values, dtype=float), index=ranks.means.columns, columns=ranks.means.columns
    )
    with house_style():
        figure = new_figure(7.0, 1.2 + 0.28 * len(ranks.average))
        axes = figure.subplots()
        axes.grid(visible=False)
        posthocs.critical_difference_diagram(
            ranks.average,
            table,
            ax=axes,
            label_props={"fontsize": 9},
            text_h_margin=0.03,
            color_palette={
                name: look(place).colour for place, name in enumerate(ranks.average.index)
            },
        )
        figure.suptitle(
            f"Average rank over {len(ranks.means)} data sets, {metric_axis(comparison.metric)}: "
            "1 is best",
            fontsize=10,
        )
    return figure
