"""The leaderboard of a suite's rows: each method's results over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.across_datasets import EQUIVALENCE, difference, scaled_scores
from ddr_cli.comparison.summary import MEAN_LEVEL
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.evaluation.statistics import holm, mean_intervals, rank_intervals
from ddr_cli.rows.log import OK
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.controls import SHUFFLED_LABELS
from ddr_cli.suite.names import CLASSIFIER_TRACK, INDUCTIVE
from ddr_cli.suite.rows import seconds_of, shared_classifiers

ALPHA = 0.05

_NO_BOARD = (
    "The track '{}' has {}, so it has no leaderboard. To see its results, use 'ddr suite page'."
)

_MOST_SHOWN = 20

_NEEDED = (
    *("dataset", "method", "classifier", "split", "split_hash", "train", LABELS),
    *("status", "fit_seconds", "tune_seconds"),
)


@dataclass(frozen=True, repr=False)
class Leaderboard:
    """Methods of one track with one classifier, each tuned or each at its defaults.

    `table` has a row per method, by rank (`place`): the scaled `score` (0: majority-class baseline,
    1: no error), a mean over data sets, with its bootstrap interval `low` to `high`; the interval
    `rank_low` to `rank_high` of the rank, and the fraction `first` of resamples of the data sets in
    which the method ranks first; the `mean` of the metric; the fraction of `failed` splits; the
    mean CPU `seconds` of a fit with its tuning; and, compared with `best` and `baseline`, the
    median difference of the metric, wins, equal and losses over data sets, and Wilcoxon's p with
    and without Holm's correction. By data set and method, `means` has the metric, `scores` the
    scaled score, `seconds` and `failures` the mean time and the fraction of failed splits; `floors`
    has the metric of the majority class by data set. `splits` is the number of shared splits of
    each data set; data sets without any are `left_out`.
    """

    track: str
    classifier: str
    metric: str
    tuned: bool
    best: str
    baseline: str
    table: pd.DataFrame
    means: pd.DataFrame
    scores: pd.DataFrame
    seconds: pd.DataFrame
    failures: pd.DataFrame
    floors: dict[str, float]
    splits: dict[str, int]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        what = f"{len(self.table)} methods {self.how} on {len(self.splits)} data sets"
        columns = ["place", "method", "score", "low", "high", "mean", "failed"]
        rows = self.table[columns].round(4).to_string(index=False, max_rows=_MOST_SHOWN)
        return f"<Leaderboard of {what}: {self.track}, {self.classifier}, {self.metric}>\n{rows}"

    def level(self, reference: str = "best") -> pd.Series[bool]:
        """Return which rows of the table cannot be distinguished from `best` or `baseline`.

        Wilcoxon's p with Holm's correction is `ALPHA` or more, or it is not defined.
        """
        return ~(self.table[f"{reference}_p_holm"].astype(float) < ALPHA)

    def rows_of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of its methods, tuned and not, that its scores could be made of."""
        own = (rows["track"] == self.track) & (rows["control"] == "") & (rows[LABELS] == ALL)
        own &= (rows["classifier"] == self.classifier) & rows["dataset"].isin(self.means.index)
        return rows[own]

    @property
    def how(self) -> str:
        """How its methods are set, in words."""
        return "tuned" if self.tuned else "at their defaults"

    def row(self, method: str) -> dict[str, Any]:
        """Return a method's row of the table."""
        # In a series with integers, a missing p-value would become pandas' NA.
        rows: Any = self.table[self.table["method"] == method].to_dict("records")
        found: dict[str, Any] = rows[0]
        return found


def leaderboard(
    rows: pd.DataFrame,
    *,
    classifier: str | None = None,
    metric: str | None = None,
    tuned: bool = True,
    track: str = INDUCTIVE,
    datasets: Sequence[str] = (),
    baseline: str = "none",
) -> Leaderboard:
    """Return the leaderboard of rows as `suite_rows` has them, on these data sets or all.

    Only the splits that all methods have count, so every difference is on the same splits. A failed
    trial counts as the majority-class baseline of its training set. Except for the choice of
    splits, a method's score does not depend on the other methods.
    """
    averages = averages_of(rows, classifier=classifier, tuned=tuned, track=track)
    return averages.leaderboard(metric, datasets, baseline)


@dataclass(frozen=True)
class Averages:
    """The rows of one track with one classifier, tuned or not, and their means over splits.

    `pairs` lists the methods of each data set. `rows` contains only those splits of a data set on
    which the largest number of methods has a result. By data set, `met` is this number of methods,
    and `splits` is the number of these splits. By data set and method, `cells` has the mean of each
    metric, of `seconds` and of `failed`. By data set, `floors` has the metrics of the
    majority-class baseline.
    """

    track: str
    classifier: str
    tuned: bool
    pairs: pd.DataFrame
    rows: pd.DataFrame
    met: pd.Series[int]
    splits: pd.Series[int]
    cells: pd.DataFrame
    floors: pd.DataFrame

    def leaderboard(
        self, metric: str | None, datasets: Sequence[str], baseline: str
    ) -> Leaderboard:
        """Return the leaderboard by one metric, the first if it is None, as `leaderboard` does."""
        metric = _known("metric", metric, list(map(str, self.floors)))
        pairs = self.pairs[self.pairs["dataset"].isin(datasets)] if datasets else self.pairs
        methods, known = (pairs[name].unique().tolist() for name in ("method", "dataset"))
        baseline = _known("method", baseline, methods)
        counted = [name for name in known if self.met[name] == len(methods)]
        if not counted:
            raise InputError("No split has results for all methods yet; use 'ddr suite run'.")
        cells: Any = self.cells.loc[counted]
        means, spent, failed = (cells[name][methods] for name in (metric, "seconds", "failed"))
        kept = self.rows[self.rows["dataset"].isin(counted)]
        of_method = kept.groupby("method")[["seconds", "failed"]].mean().reindex(methods)
        floors = self.floors.loc[counted, metric]
        scaled = scaled_scores(means, floors.to_numpy()[:, None], metric)
        scores = pd.DataFrame(scaled, means.index, means.columns).dropna()
        table = pd.DataFrame(
            {
                "method": methods,
                "datasets": len(counted),
                "score": scores.mean().to_numpy(),
                "mean": means.mean().to_numpy(),
                "failed": of_method["failed"].to_numpy(),
                "seconds": of_method["seconds"].to_numpy(),
            }
        )
        # Scores that agree to twelve decimals share a rank.
        table.insert(0, "place", (-table["score"].round(12)).rank(method="min").astype("Int64"))
        table[["low", "high"]] = np.column_stack(mean_intervals(scores.to_numpy(), MEAN_LEVEL))
        ranks = rank_intervals(scores.to_numpy(), MEAN_LEVEL)
        table[["rank_low", "rank_high", "first"]] = np.column_stack(ranks)
        best = str(table.sort_values("place", kind="stable")["method"].iloc[0])
        for title, reference in (("best", best), ("baseline", baseline)):
            compared = difference(means, means[[reference]], metric, EQUIVALENCE)
            names = ["difference", "wins", "equal", "losses", "p"]
            columns = pd.DataFrame(compared, columns=names, dtype=float).add_prefix(f"{title}_")
            columns.loc[methods.index(reference)] = np.nan
            columns[f"{title}_p_holm"] = holm(columns[f"{title}_p"].to_numpy(dtype=float))
            table = pd.concat([table, columns], axis=1)
        return Leaderboard(
            self.track,
            self.classifier,
            metric,
            self.tuned,
            best,
            baseline,
            table.sort_values("place", kind="stable").reset_index(drop=True),
            means,
            scores,
            spent,
            failed,
            floors.to_dict(),
            {name: int(self.splits[name]) for name in counted},
            tuple(name for name in known if name not in counted),
        )


def averages_of(
    rows: pd.DataFrame,
    *,
    classifier: str | None = None,
    tuned: bool = True,
    track: str = INDUCTIVE,
) -> Averages:
    """Return the averages of rows that leaderboards of several metrics or data sets share."""
    metrics = [name[6:] for name in map(str, rows.columns) if name.startswith("floor_")]
    floors = [f"floor_{name}" for name in metrics]
    controls = rows["control"].where(rows["track"] == track)
    # The inductive track ranks methods by their results on true labels, with any controls.
    if track != INDUCTIVE and (controls == SHUFFLED_LABELS).any():
        raise InputError(_NO_BOARD.format(track, "permuted labels"))
    is_meant = (controls == "") & (rows["tuned"] == tuned)
    # The selections below are faster with only the columns that are needed.
    chosen = rows.loc[is_meant, [*_NEEDED, *metrics, *floors]]
    if len(chosen) and (chosen[LABELS] != ALL).all():
        raise InputError(_NO_BOARD.format(track, "several numbers of labels"))
    chosen = chosen[chosen[LABELS] == ALL]
    if chosen["train"].nunique() > 1:
        raise InputError(_NO_BOARD.format(track, "several sizes of training sets"))
    if track == CLASSIFIER_TRACK and chosen["method"].nunique() == 1:
        raise InputError(_NO_BOARD.format(track, "only one method"))
    classifier = _known("classifier", classifier, shared_classifiers(chosen))
    chosen = chosen[chosen["classifier"] == classifier]
    if chosen.duplicated(["dataset", "split", "split_hash", "method"]).any():
        raise InputError(_NO_BOARD.format(track, "several numbers of dimensions"))
    met = _methods_per_split(chosen)
    most = met.groupby(chosen["dataset"]).max()
    kept = chosen[met == chosen["dataset"].map(most)]
    kept = kept.assign(seconds=seconds_of(kept), failed=(kept["status"] != OK).astype(float))
    measured = kept[["dataset", "method", *metrics, "seconds", "failed"]]
    cells: Any = measured.groupby(["dataset", "method"]).mean().unstack()
    return Averages(
        track,
        classifier,
        tuned,
        chosen[["dataset", "method"]].drop_duplicates(),
        kept[["dataset", "method", "seconds", "failed"]],
        most,
        kept.groupby("dataset")["split"].nunique(),
        cells,
        chosen.groupby("dataset")[floors].first().astype(float).set_axis(metrics, axis=1),
    )


def ranks_text(row: Mapping[Any, Any]) -> str:
    """Return the interval of a row's rank as text, empty on fewer than two data sets."""
    low, high = row["rank_low"], row["rank_high"]
    return "" if np.isnan(low) else f"{low:.0f} to {high:.0f}"


def rank_text(row: Mapping[Any, Any], of: int | None = None) -> str:
    """Return a row's rank with its interval, such as ``rank 2 of 43 (95 % interval 1 to 11)``."""
    interval = ranks_text(row)
    return (
        f"rank {int(row['place'])}{f' of {of}' if of else ''}"
        f"{f' (95 % interval {interval})' if interval else ''}"
    )


def counted_rows(rows: pd.DataFrame, board: Leaderboard) -> pd.DataFrame:
    """Return the rows that a leaderboard counts."""
    own = board.rows_of(rows)
    own = own[own["tuned"] == board.tuned]
    return own[_methods_per_split(own) == len(board.table)]


def _methods_per_split(rows: pd.DataFrame) -> pd.Series[int]:
    """Return how many methods have the split of each row; a split is identified by its hash."""
    return rows.groupby(["dataset", "split", "split_hash"])["method"].transform("nunique")


def _known(what: str, requested: str | None, names: Sequence[str]) -> str:
    if not names:
        raise InputError("The suite has no results for your options yet; use 'ddr suite run'.")
    if requested is None:
        return names[0]
    if requested not in names:
        hint = did_you_mean(requested, names) or f" Choose one of: {', '.join(names)}."
        raise InputError(f"The suite has no results for the {what} '{requested}'.{hint}")
    return requested
