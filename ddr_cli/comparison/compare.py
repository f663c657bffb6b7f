"""Methods against each other: paired on the same splits of a data set, and across data sets.

On one data set differences are paired, and intervals and tests allow for the overlap of the splits
(see `ddr_cli.evaluation.statistics`). Across data sets a data set counts once, however many splits
or runs it has. Whatever is said of two methods depends on these two alone: no ranks among all that
happen to be there (Demsar, JMLR 7, 2006; Benavoli, Corani, Mangili, JMLR 17, 2016). Holm's
adjustment alone depends on how many comparisons are made, and stands beside the p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pandas as pd

from ddr_cli.comparison.across_datasets import EQUIVALENCE, table_of_pairs, table_of_scores
from ddr_cli.comparison.names import is_rate
from ddr_cli.comparison.selection import (
    TRACKS,
    ComparedMethod,
    Selection,
    Track,
    matching,
    select,
    what_each_has,
)
from ddr_cli.comparison.summary import CHOSEN, Summary
from ddr_cli.comparison.within_dataset import difference_interval, meetings, paired
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import holm

_MOST_NAMES = 6


@dataclass(frozen=True, repr=False)
class Comparison:
    """What methods did against each other; rates and their differences are in 0..1.

    Attributes
    ----------
    metric : str
        The metric compared.
    equivalence : float
        The largest difference, in its units, that counts as equal.
    methods : DataFrame
        A row per run and method: ``dataset``, ``run``, ``track`` (``transductive`` methods saw the
        test points, unlabelled, when they were fitted), ``method``, ``setting`` (the best of
        ``settings``), what a tuned one has ``chosen`` most often, ``n`` splits (on ``failed`` of
        which it failed and is scored as the majority class), ``mean``, ``sd``.
    differences : DataFrame
        A row per run and method but the reference: ``difference`` is the method's mean minus
        that of ``against`` on the same ``n`` splits, ``low`` and ``high`` its 95 % interval,
        ``p_value`` that of the t-test, ``interval`` the correction that both have; ``p_holm`` is
        adjusted for the number of p-values in the column. Missing if the sizes of the training
        and test sets are not known.
    pairs : DataFrame
        A row per two methods of a track that met: on how many ``datasets``; how many of these the
        ``first`` wins, is ``equal`` on and loses; ``median_difference`` of the first's mean
        minus the second's; ``p_value`` of the ``test``, Wilcoxon's signed ranks over data sets, and
        ``p_holm``. On one data set ``low``, ``high`` and ``p_value`` are as in `differences`.
    scores : DataFrame
        A row per method: the mean over its ``datasets`` of its ``score``, scaled so that 0 is
        the majority-class baseline and 1 is no mistake, with a 95 % bootstrap interval over
        data sets. Empty for metrics without such a scale.
    notes : tuple of str
        How the methods were chosen, what was left out and why.
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
        Result folders, or what was read of them. Runs of one name are told apart by the folders
        that they are in.
    metric : str, optional
        The first of the first run's if not given.
    against : str, optional
        The method that `differences` are to, such as ``NMMP`` or ``NMMP, k-NN``; if not given, the
        first method of each track.
    methods : sequence of str
        The methods to compare; all if empty.
    classifier : str, optional
        The only classifier, by its name or label; if not given, the first setting of each.
    at : sequence of str
        ``NAME=VALUE`` of parameters, such as ``n_components=10``, where each method's best setting
        by the mean over the test parts is not wanted; of ``labels`` and ``split.train`` the largest
        is taken if not given.
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
            f"The region of equivalence is a difference of 0 or more, below 1 for rates, not "
            f"{equivalence:g}; one point is 0.01."
        )
    selection = select(runs, metric=metric, methods=methods, classifier=classifier, at=at)
    references = _references(selection, against)
    differences = _differences(selection, references)
    pairs = table_of_pairs(selection, equivalence)
    _remark_on_runs_of_one_dataset(selection)
    _check_common(selection, differences, pairs)
    return Comparison(
        metric=selection.metric,
        equivalence=equivalence,
        methods=pd.DataFrame([_described(entry) for entry in selection.entries]),
        differences=differences,
        pairs=pairs,
        scores=table_of_scores(selection),
        notes=selection.remarks.sentences(),
    )


def _references(selection: Selection, against: str | None) -> dict[Track, ComparedMethod | None]:
    """Return for each track the first entry of the method that its differences are to."""
    entries, name = selection.entries, None
    if against is not None:
        name = matching(against, list(dict.fromkeys(entry.name for entry in entries)))[0]
    found: dict[Track, ComparedMethod | None] = {}
    for track in TRACKS:
        own = (entry for entry in entries if entry.track == track and name in (None, entry.name))
        # A reference that is asked for also serves the other track.
        found[track] = next(own, next((entry for entry in entries if entry.name == name), None))
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
    }


def _check_common(selection: Selection, differences: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """Refuse runs that have nothing to compare, or nothing to compare with each other."""
    datasets = {place.dataset for place in selection.places}
    linked = (
        bool(meetings([first], [second]))
        for first, second in combinations(selection.entries, 2)
        if first.place is not second.place
    )
    if len(datasets) > 1 and (pairs.empty or pairs["datasets"].max() < 2):
        problem = "The runs have no two methods of one track in common on two data sets"
    elif len(datasets) == 1 and len(selection.places) > 1 and not any(linked):
        problem = "The runs are of one data set, but have no splits in common"
    elif differences.empty and pairs.empty:
        problem = "There are no two methods to compare"
        if len({entry.track for entry in selection.entries}) > 1:
            problem += (
                " among those that saw the test points unlabelled, nor among the others; "
                "--against NAME compares one with all"
            )
    else:
        return
    lines = [f"{problem}. What each run has:", what_each_has(selection)]
    raise InputError("\n".join([*lines, *selection.remarks.sentences()]))


def _remark_on_runs_of_one_dataset(selection: Selection) -> None:
    """Say how a data set with several runs counts, where there are several data sets."""
    runs: dict[str, list[str]] = {}
    for place in selection.places:
        runs.setdefault(place.dataset, []).append(place.label)
    several = [f"{name} ({', '.join(own)})" for name, own in runs.items() if len(own) > 1]
    if several and len(runs) > 1:
        selection.remarks.add_for_all(
            "Across data sets each counts once, by the mean of what its runs say of two methods "
            f"that they have in common: {'; '.join(several)}"
        )
