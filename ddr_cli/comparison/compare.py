"""Methods compared: paired on the same splits of a data set, and across data sets.

On one data set, differences are paired, and intervals and tests account for the overlap of the
splits (see `ddr_cli.evaluation.statistics`). Across data sets, each data set counts once, however
many splits or runs it has. The result for two methods depends on these two only; there are no mean
ranks, which depend on the other methods (Demsar, JMLR 7, 2006; Benavoli, Corani, Mangili, JMLR 17,
2016). Only Holm's adjusted p-value depends on the number of comparisons; it is shown next to the
unadjusted one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from ddr_cli.comparison.across_datasets import EQUIVALENCE, table_of_pairs, table_of_scores
from ddr_cli.comparison.against_controls import WITH_BASELINE
from ddr_cli.comparison.names import is_rate
from ddr_cli.comparison.selection import (
    TRACKS,
    ComparedMethod,
    Selection,
    Track,
    matching,
    remarks_on,
    select,
    what_each_has,
)
from ddr_cli.comparison.summary import CHOSEN, Summary, best_index
from ddr_cli.comparison.within_dataset import difference_interval, meetings, paired
from ddr_cli.core.errors import InputError, listed
from ddr_cli.evaluation.statistics import holm

_MOST_NAMES = 6


@dataclass(frozen=True, repr=False)
class Comparison:
    """The comparison of several methods; rates and their differences are in 0..1.

    Attributes
    ----------
    metric : str
        The metric compared.
    equivalence : float
        The largest difference, in its units, that counts as equal.
    methods : DataFrame
        A row per run and method: ``dataset``, ``run``, ``track`` (``transductive`` methods are
        fitted with the unlabelled test samples), ``method``, ``setting`` (the best of
        ``settings``), ``chosen`` (the setting that a tuned method selected most often), ``n``
        splits, ``failed`` (the splits on which it failed, scored as the majority-class baseline),
        ``mean``, ``sd``, ``splits`` (their kind, number, sizes and seed), ``p_best`` (of the
        paired t-test against the best mean of the run and track, adjusted by Holm's method for
        the number of tests; 1 for the best itself, missing without a test).
    differences : DataFrame
        A row per run and method except the reference: ``difference`` is the method's mean minus
        that of ``against`` on the same ``n`` splits, ``low`` and ``high`` are the ends of its 95 %
        interval, ``p_value`` is that of the t-test, and ``interval`` is the correction of both;
        ``p_holm`` is adjusted for the number of p-values in the column. Intervals and p-values are
        missing if the sizes of the training and test sets are unknown, or if the difference is the
        same on all splits and not zero (``interval`` says so).
    pairs : DataFrame
        A row per two methods of a track that share ``datasets`` (their number): on how many the
        ``first`` wins, is ``equal`` and loses; ``median_difference`` of the first's mean minus the
        second's; ``p_value`` of the ``test``, Wilcoxon's signed-rank test over data sets, and
        ``p_holm``. On one data set ``low``, ``high`` and ``p_value`` are as in `differences`.
    scores : DataFrame
        A row per method: the mean over its ``datasets`` of its ``score``, scaled so that 0 is the
        majority-class baseline and 1 is no error, with a 95 % bootstrap interval over data sets.
        Empty for metrics without such a scale.
    notes : tuple of str
        How the methods were chosen, and which were left out and why.
    """

    metric: str
    equivalence: float
    methods: pd.DataFrame
    differences: pd.DataFrame
    pairs: pd.DataFrame
    scores: pd.DataFrame
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        names, runs = (list(self.methods[column].unique()) for column in ("method", "run"))
        shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        what = f"{len(names)} methods by {self.metric} in {', '.join(runs)}"
        return f"<Comparison of {what}: {shown}>"


def compare(
    runs: Sequence[Path | Summary],
    *,
    metric: str | None = None,
    against: str | None = None,
    methods: Sequence[str] = (),
    classifier: str | None = None,
    at: Sequence[str] = (),
    equivalence: float = EQUIVALENCE,
) -> Comparison:
    """Compare the methods of one or more runs.

    Parameters
    ----------
    runs : sequence of Path or Summary
        Result folders, or their summaries. Runs with the same name are distinguished by their
        folders.
    metric : str, optional
        The metric to compare. Default: the first run's first metric.
    against : str, optional
        The reference method of `differences`, such as ``NMMP`` or ``NMMP, k-NN``. Default: the
        first method of each track that did not fail on all splits.
    methods : sequence of str
        The methods to compare; all if empty.
    classifier : str, optional
        The only classifier, by its name or label. Default: the first setting of each.
    at : sequence of str
        ``NAME=VALUE`` of parameters, such as ``n_components=10``, instead of each method's best
        setting by the mean over the test sets. Default for ``labels`` and ``split.train``: the
        largest value.
    equivalence : float, default=0.01
        The largest difference of means that counts as equal.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a folder holds no run, the runs have too little in common, or a name is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> found = compare([Path("results/nmmp_iris")], against="LDA")  # doctest: +SKIP
    >>> found.differences[["method", "difference", "low", "high"]]  # doctest: +SKIP
    """
    if not 0 <= equivalence < (1 if is_rate(metric or "error") else float("inf")):
        raise InputError(
            f"--equivalence {equivalence:g} is out of range; write 0.01 for one percentage point."
        )
    selection = select(runs, metric=metric, methods=methods, classifier=classifier, at=at)
    references = _references(selection, against)
    differences = _differences(selection, references)
    pairs = table_of_pairs(selection, equivalence)
    notes = (
        *remarks_on(selection.places),
        *_note_on_datasets(selection),
        *_note_on_scores(selection),
    )
    _check_common(selection, differences, pairs, notes)
    return Comparison(
        metric=selection.metric,
        equivalence=equivalence,
        methods=_methods(selection),
        differences=differences,
        pairs=pairs,
        scores=table_of_scores(selection),
        notes=notes,
    )


def _references(selection: Selection, against: str | None) -> dict[Track, ComparedMethod | None]:
    """Return, for each track, the first entry of the reference method.

    A method that failed on all splits is the reference only if it is requested, or if all did.
    """
    entries, name = selection.entries, None
    if against is not None:
        name = matching(against, list(dict.fromkeys(entry.name for entry in entries)))[0]
    found: dict[Track, ComparedMethod | None] = {}
    for track in TRACKS:
        own = [entry for entry in entries if entry.track == track and name in (None, entry.name)]
        own.sort(key=lambda entry: entry.row.failed == entry.row["n"])
        # A requested reference is also used in a track in which it was not run.
        others = (entry for entry in entries if entry.name == name)
        found[track] = next(iter(own), next(others, None))
    return found


def _differences(
    selection: Selection, references: dict[Track, ComparedMethod | None]
) -> pd.DataFrame:
    records = []
    for entry in selection.entries:
        reference = references[entry.track]
        if reference is None or entry.name == reference.name:
            continue
        others = [
            each
            for each in selection.entries
            if (each.name, each.track) == (reference.name, reference.track)
        ]
        found = meetings([entry], others)
        if not found:
            continue
        theirs = found[entry.place.dataset][0][1]
        values = paired(entry.row, theirs.row).values
        record: dict[str, object] = {
            "dataset": entry.place.dataset,
            "run": entry.place.label,
            "track": entry.track,
            "method": entry.name,
            "against": reference.name,
            "against_track": reference.track,
            "n": len(values),
            "difference": float(values.mean()),
        }
        interval = difference_interval((entry.row, theirs.row))
        if interval is not None:
            record |= {"low": interval.low, "high": interval.high, "p_value": interval.p_value}
            record["interval"] = interval.name
        records.append(record)
    columns = [
        *("dataset", "run", "track", "method", "against", "against_track", "n"),
        *("difference", "low", "high", "p_value", "p_holm", "interval"),
    ]
    table = pd.DataFrame(records).reindex(columns=columns)
    table["p_holm"] = holm(table["p_value"].to_numpy(dtype=float))
    return table


def _methods(selection: Selection) -> pd.DataFrame:
    """Return a row per run and method, each with a p-value against the best of its track."""
    table = pd.DataFrame([_described(entry) for entry in selection.entries])
    table["p_best"] = 1.0
    for _, rows in table.groupby(["run", "track"], sort=False):
        best = best_index(rows["mean"], selection.metric)
        others = [int(i) for i in rows.index if i != best]
        tests = [
            difference_interval((selection.entries[i].row, selection.entries[best].row))
            for i in others
        ]
        table.loc[others, "p_best"] = holm([each.p_value if each else np.nan for each in tests])
    return table


def _described(entry: ComparedMethod) -> dict[str, object]:
    row = entry.row
    return {
        "dataset": entry.place.dataset,
        "run": entry.place.label,
        "track": entry.track,
        "method": entry.name,
        "setting": row.setting,
        "settings": entry.settings,
        "chosen": row[CHOSEN] if row.is_tuned else "",
        "n": row["n"],
        "failed": row.failed,
        "mean": row["mean"],
        "sd": row["sd"],
        "splits": entry.place.run.splits_text(row.family),
    }


def _check_common(
    selection: Selection, differences: pd.DataFrame, pairs: pd.DataFrame, notes: Sequence[str]
) -> None:
    """Raise an error for runs that have nothing to compare."""
    datasets = {place.dataset for place in selection.places}
    linked = (
        bool(meetings([first], [second]))
        for first, second in combinations(selection.entries, 2)
        if first.place is not second.place
    )
    if len(datasets) > 1 and (pairs.empty or pairs["datasets"].max() < 2):
        problem = "No two methods of the same track were run on at least two data sets"
    elif len(datasets) == 1 and len(selection.places) > 1 and not any(linked):
        problem = "The runs use one data set, but share no split"
    elif differences.empty and pairs.empty:
        problem = "There are no two methods to compare"
        if len({entry.track for entry in selection.entries}) > 1:
            problem = (
                "No track (inductive or transductive) has two methods to compare; --against NAME "
                "compares one method with all methods"
            )
    else:
        return
    lines = [f"{problem}. Methods and splits of each run:", what_each_has(selection)]
    raise InputError("\n".join([*lines, *notes]))


def _note_on_datasets(selection: Selection) -> Iterator[str]:
    """Yield how a data set with several runs counts, if there are several data sets."""
    runs: dict[str, list[str]] = {}
    for place in selection.places:
        runs.setdefault(place.dataset, []).append(place.label)
    several = [f"{name} ({', '.join(own)})" for name, own in runs.items() if len(own) > 1]
    if several and len(runs) > 1:
        yield (
            f"Several runs use the same data set: {'; '.join(several)}. Each data set counts once, "
            "with the mean over its runs that have both methods."
        )


def _note_on_scores(selection: Selection) -> Iterator[str]:
    """Yield which data sets the scaled scores leave out, if there are several data sets."""
    runs = {entry.place.dataset: entry.place.run for entry in selection.entries}
    if selection.metric not in WITH_BASELINE or len(runs) < 2:
        return
    lacking = [name for name, run in runs.items() if run.majority(selection.metric) is None]
    if lacking:
        yield (
            f"The scaled scores leave out {listed(lacking)}: the run does not state the score of "
            "the majority-class baseline. Add the sizes of the classes to the card, and repeat the "
            "run."
        )
