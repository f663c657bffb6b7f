"""A suite's results: its leaderboards, and the summaries of its other tracks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.against_controls import AGREEMENTS
from ddr_cli.comparison.names import method_name, metric_name
from ddr_cli.core.errors import InputError
from ddr_cli.core.progress import progress_bar
from ddr_cli.engine.audit import Audit
from ddr_cli.engine.plan.growth import Growth, growths
from ddr_cli.evaluation.metrics import measured
from ddr_cli.numerics.kernels import scale_factor
from ddr_cli.reducers.registry import REDUCERS, year
from ddr_cli.rows.log import OK
from ddr_cli.rows.manifest import Manifest, days_of
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.controls import FULL_FEATURES, SEEN, SHUFFLED_LABELS
from ddr_cli.suite.audits import read_audits
from ddr_cli.suite.choices import choices, entry
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.leaderboard import Averages, Leaderboard, averages_of
from ddr_cli.suite.names import CLASSIFIER_TRACK, INDUCTIVE
from ddr_cli.suite.published import submissions_of
from ddr_cli.suite.rows import (
    SELECTED,
    failures,
    folders_of,
    seconds_of,
    selected,
    shared_classifiers,
    suite_rows,
    with_selected_classifier,
)
from ddr_cli.suite.submission import Submission

KNN = "knn"
LEAVING_OUT = "leaving out one data set"
TUNED_K = "no reduction, k-NN with tuned k"
BEST = "no reduction, best of four classifiers"

Key = tuple[str, str, str, bool, str]
"""Track, classifier, metric, whether the methods are tuned, and the group of data sets or none."""


@dataclass(frozen=True)
class Benchmark:
    """A suite's rows, as returned by `suite_rows`, and the results computed from them."""

    suite: Suite
    rows: pd.DataFrame
    folders: Mapping[Path, Manifest] = field(repr=False)
    audits: tuple[Audit, ...] = ()
    submissions: Mapping[str, Submission] = field(default_factory=dict, repr=False)
    """The submitted methods and ensembles that have all rows, by their names."""
    ensembles: Sequence[pd.DataFrame] = field(default=(), repr=False)
    """The rows of each submitted ensemble, which `rows` does not have."""
    _averages: dict[tuple[str, str, bool], Averages] = field(default_factory=dict, repr=False)
    _boards: dict[Key, Leaderboard | None] = field(default_factory=dict, repr=False)

    @property
    def trials(self) -> pd.DataFrame:
        """The rows of all trials, including those of submitted methods and ensembles."""
        rows = self.rows[self.rows["classifier"] != SELECTED]
        return pd.concat([rows, *self.ensembles], ignore_index=True)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """How often tuning selects the lowest and the highest value of each ordered grid.

        A row per method and parameter: the number of tuned `rows`, of `values` in the largest grid,
        and the fractions `lowest` and `highest`. A grid is ordered if its values are numbers, or
        multiples of a kernel's scale. A grid of fewer than three values is left out.
        """
        counts = []
        rows = self.rows[(self.rows["track"] == INDUCTIVE) & self.rows["tuned"]]
        rows = rows[(rows["control"] == "") & (rows["classifier"] != SELECTED)]
        cells = dict(list(rows.groupby(["dataset", "method"])))
        for dataset, manifest in self.manifests.items():
            for item in manifest.spec["reducers"]:
                tuned = cells.get((dataset, item["label"]), rows.iloc[:0])
                for name, grid in item["grids"].items():
                    own = tuned.get(f"reducer.{name}", pd.Series()).to_numpy()
                    sizes = [_size(value) for value in grid]
                    if len(own) and len(grid) > 2 and not np.isnan(sizes).any():
                        chosen = [_size(value) for value in own[pd.notna(own)]]
                        ends = [np.isclose(chosen, end(sizes)).sum() for end in (min, max)]
                        counts.append((item["label"], name, len(chosen), len(grid), *ends))
        columns = ["method", "parameter", "rows", "values", "lowest", "highest"]
        by = pd.DataFrame(counts, columns=columns).groupby(["method", "parameter"], sort=False)
        table = by.agg(
            rows=("rows", "sum"),
            values=("values", "max"),
            lowest=("lowest", "sum"),
            highest=("highest", "sum"),
        )
        table[["lowest", "highest"]] = table[["lowest", "highest"]].div(table["rows"], axis=0)
        return table.reset_index()

    @cached_property
    def days(self) -> str:
        """The first and the last day of the runs."""
        return days_of(self.folders.values())

    @cached_property
    def boards(self) -> dict[Key, Leaderboard]:
        """The leaderboards: of all data sets; by the first metric, also of each group of them."""
        groups = {metric: [""] for metric in self.suite.metrics}
        groups[self.suite.metrics[0]] += self.groups
        keys = [(*key[:4], group) for key in self._keys for group in groups[key[2]]]
        found = {key: self._board(key) for key in progress_bar(keys, "Leaderboards")}
        return {key: board for key, board in found.items() if board is not None}

    def board(self, *, tuned: bool | None = None, classifier: int = 0) -> Leaderboard | None:
        """Return a leaderboard of the inductive track: tuned if there are tuned rows.

        It uses the suite's first metric and the classifier with this index.
        """
        for how in (True, False) if tuned is None else (tuned,):
            wanted = (INDUCTIVE, self.suite.metrics[0], how)
            keys = [key for key in self._keys if (key[0], *key[2:4]) == wanted]
            if len(keys) > classifier and (board := self._board(keys[classifier])) is not None:
                return board
        return None

    @cached_property
    def _keys(self) -> list[Key]:
        found = []
        for track, how in self.suite.tracks.items():
            # These tracks compare other things, which one leaderboard can't show.
            other = how.labels or how.dimensions or how.sizes or how.measures
            if other or len(self.suite.methods_of(track)) < 2:
                continue
            own = self._rows_of(track)
            for tuned in (True, False):
                for classifier in shared_classifiers(own[own["tuned"] == tuned]):
                    found += [(track, classifier, each, tuned, "") for each in self.suite.metrics]
        return found

    def _board(self, key: Key) -> Leaderboard | None:
        if key not in self._boards:
            track, classifier, metric, tuned, group = key
            self._boards[key] = None
            own, rows = (track, classifier, tuned), self.rows
            datasets = self.groups[group] if group else ()
            with suppress(InputError):
                if own not in self._averages:
                    found = averages_of(rows, classifier=classifier, tuned=tuned, track=track)
                    self._averages[own] = found
                baseline = self.suite.baseline_of(track)
                self._boards[key] = self._averages[own].leaderboard(metric, datasets, baseline)
        return self._boards[key]

    @cached_property
    def manifests(self) -> dict[str, Manifest]:
        """The manifests of the inductive track, by data set."""
        own = (each for each in self.folders.values() if each.spec["suite"]["track"] == INDUCTIVE)
        return {each.data.name: each for each in own if each.data}

    @cached_property
    def n_train(self) -> dict[str, int]:
        """The mean size of the training sets by data set, if known."""
        rows = self.rows[self.rows["track"] == INDUCTIVE].dropna(subset=["n_train"])
        sizes = rows.groupby("dataset", sort=False)["n_train"].first()
        return {str(name): round(size) for name, size in sizes.items()}

    @cached_property
    def methods(self) -> list[str]:
        """The suite's methods, then those that its controls add."""
        return list(dict.fromkeys([*self.suite.methods, *self.rows["method"]]))

    @cached_property
    def years(self) -> dict[str, int]:
        """The years in which the methods were published, if known."""
        found = {name: year(self.suite.factory_of(name)) for name in self.suite.methods}
        return {name: each for name, each in found.items() if each is not None}

    @cached_property
    def users(self) -> set[str]:
        """The methods that use labels, including those that can't be loaded."""

        def uses_labels(label: str) -> bool:
            try:
                return self.suite.traits_of(label).supervised
            except InputError:
                return True

        return set(filter(uses_labels, self.methods))

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The suite's groups of data sets, by their cards' names."""
        names = {each.spec["dataset"]["name"]: name for name, each in self.manifests.items()}
        return {
            group: found
            for group, members in self.suite.groups.items()
            if (found := [names[each] for each in members if each in names])
        }

    @cached_property
    def ceiling(self) -> pd.Series[Any]:
        """The mean of the first metric of the best classifier on all features, by data set.

        It is the strong classifier, or the one that the inner folds select in the track of
        classifiers.
        """
        rows = self.rows[(self.rows["track"] == CLASSIFIER_TRACK) & self.rows["tuned"]]
        rows = rows[rows["classifier"] != KNN]
        if rows.empty:
            rows = self.rows[self.rows["control"] == FULL_FEATURES]
        if rows.empty:
            return pd.Series(dtype=float)
        rows = selected(rows, ["dataset", "split", "split_hash"])
        means = rows.groupby("dataset")[self.suite.metrics[0]].mean()
        return means[[name for name in self.manifests if name in means.index]]

    @cached_property
    def orders(self) -> pd.DataFrame:
        """Each method's rank by several criteria, on which the order of the methods depends.

        They are the mean score, the mean rank and the median score over data sets; the best and the
        worst rank if one data set is left out; and the rank by the mean score with each other
        metric, with each other classifier, and within each group of data sets that is not made for
        a track.
        """
        board = self.board()
        if board is None or len(board.scores) < 2:
            return pd.DataFrame()
        scores = board.scores[list(board.table["method"])]
        without = pd.DataFrame(
            {name: _ranks(scores.drop(index=name).mean()) for name in scores.index}
        )
        found = {
            ("", "mean score"): _ranks(scores.mean()),
            ("", "mean rank"): _ranks(-scores.round(12).rank(axis=1, ascending=False).mean()),
            ("", "median score"): _ranks(scores.median()),
            (LEAVING_OUT, "best"): without.min(axis=1),
            (LEAVING_OUT, "worst"): without.max(axis=1),
        }
        for (track, classifier, metric, tuned, group), other in self.boards.items():
            if (track, tuned) != (board.track, board.tuned) or group in self.suite.tracks:
                continue
            changed = (classifier != board.classifier, metric != board.metric, group != "")
            if sum(changed) == 1:
                words = (
                    ("classifier", method_name(classifier)),
                    ("", metric_name(metric)),
                    ("group", group.replace("_", " ")),
                )
                found[words[changed.index(True)]] = other.table.set_index("method")["place"].astype(
                    int
                )
        return pd.DataFrame(found).reindex(scores.columns)

    @cached_property
    def choices(self) -> pd.DataFrame:
        """What a user may do instead of using one method of the first leaderboard."""
        board = self.board()
        return pd.DataFrame() if board is None else self.choices_of(board)

    def choices_of(self, board: Leaderboard) -> pd.DataFrame:
        """Return what a user may do instead of using one method, with a leaderboard's columns.

        That is to choose a method, or one of a family, on the inner folds, or not to reduce. It is
        empty for a leaderboard of untuned methods.
        """
        found = choices(self.rows, board, self.suite.families)
        for rows in self.ensembles:
            rows = rows[rows["classifier"] == board.classifier]
            rows = rows[(rows["tuned"] == board.tuned) & (rows["track"] == board.track)]
            means = rows.groupby("dataset")[board.metric].mean().reindex(board.means.index)
            if means.notna().all():
                told = entry(rows["method"].iloc[0], means, board)
                told |= {"methods": np.nan, "seconds": seconds_of(rows).mean()}
                found = pd.concat([found, pd.DataFrame([told])])
        if found.empty or board.metric != self.suite.metrics[0]:
            return found
        rows = self.rows[(self.rows["track"] == CLASSIFIER_TRACK) & self.rows["tuned"]]
        tuned_k = rows[rows["classifier"] == KNN].groupby("dataset")[board.metric].mean()
        for name, means in ((TUNED_K, tuned_k), (BEST, self.ceiling)):
            means = means.reindex(board.means.index)
            if means.notna().all():
                found = pd.concat([found, pd.DataFrame([entry(name, means, board)])])
        return found.reset_index(drop=True)

    @cached_property
    def widths(self) -> pd.DataFrame:
        """The fraction of tuned rows by method and selected n_components."""
        rows = self._tuned_rows.dropna(subset=["width"])
        shares = pd.crosstab(rows["method"], rows["width"].astype(int), normalize="index")
        return shares.loc[[name for name in self.order if name in shares.index]]

    @cached_property
    def width_changes(self) -> pd.DataFrame:
        """Tuned rows below, at and above the default n_components: fraction, change in error."""
        keys = ["dataset", "split", "method"]
        board = self.board()
        tuned = self._tuned_rows.dropna(subset=["width"])
        if board is None or tuned.empty:
            return pd.DataFrame()
        rows = board.rows_of(self.rows)
        default = rows[~rows["tuned"]][[*keys, "width", board.metric]]
        both = tuned[[*keys, "width", board.metric]].merge(
            default, on=keys, suffixes=("", "_default")
        )
        names = {-1: "fewer than the default", 0: "the default", 1: "more than the default"}
        sides = (both["width"] - both["width_default"]).apply(np.sign).map(names)
        found = both.assign(difference=both[board.metric] - both[f"{board.metric}_default"])
        groups = found.groupby(sides)["difference"]
        table = pd.DataFrame({"share": groups.size() / len(both), "difference": groups.mean()})
        return table.reindex([name for name in names.values() if name in table.index])

    @cached_property
    def by_labels(self) -> pd.DataFrame:
        """The mean by method, data set and number of labels per class."""
        rows = self._rows_of(self._track_with("labels"))
        rows = _of_first_classifier(rows[(rows[LABELS] != ALL) & ~rows["tuned"]])
        if rows.empty:
            return pd.DataFrame()
        n_methods = rows["method"].nunique()
        keys = ["dataset", "split", "split_hash", LABELS]
        rows = rows[rows.groupby(keys)["method"].transform("nunique") == n_methods]
        # Only data sets with all label counts are used, so that a curve covers the same ones
        # throughout.
        whole = rows.groupby("dataset")[LABELS].transform("nunique") == rows[LABELS].nunique()
        rows = rows[whole].assign(**{LABELS: rows[LABELS].astype(int)})
        by = rows.groupby(["method", "dataset", LABELS], sort=False)
        return by[self.suite.metrics[0]].mean().unstack(LABELS).sort_index(axis="columns")

    @cached_property
    def by_size(self) -> pd.DataFrame:
        """The metric, CPU seconds and fraction of failed splits by method, data set and size.

        Only splits that all methods of the track have at this size count.
        """
        rows = self._rows_of(self._track_with("sizes"))
        if rows.empty:
            return pd.DataFrame()
        keys = ["dataset", "train", "split", "split_hash"]
        met = rows.groupby(keys)["method"].transform("nunique")
        rows = rows[met == rows["method"].nunique()]
        rows = rows.assign(
            seconds=seconds_of(rows),
            failed=(rows["status"] != OK).astype(float),
            train=rows["train"].astype(int),
        )
        columns = [self.suite.metrics[0], "seconds", "failed"]
        return rows.groupby(["method", "dataset", "train"], sort=False)[columns].mean()

    @cached_property
    def faithfulness(self) -> pd.DataFrame:
        """The mean over data sets of the metric and of each measure, by method.

        Only data sets on which all methods have all of them count. Methods without n_components
        are left out: their embeddings have another number of dimensions.
        """
        rows = self._rows_of(self._track_with("measures")).dropna(subset=["width"])
        if rows.empty:
            return pd.DataFrame()
        there = rows.columns[rows.notna().any()]
        columns = [self.suite.metrics[0], *(name for name in there if name in measured())]
        cells = rows.groupby(["method", "dataset"], sort=False)[columns].mean()
        whole = cells.notna().all(axis=1).groupby(level="dataset").transform("all")
        return cells[whole].groupby(level="method", sort=False).mean()

    @cached_property
    def by_dimension(self) -> pd.DataFrame:
        """The mean by method, data set and n_components.

        A method that has fewer dimensions, or fails at this number of them, counts with its largest
        number that succeeded, so that a mean over data sets always covers the same data sets.
        """
        values, ended = self._by_width
        if values.empty:
            return values
        asked = self.suite.tracks[self._dimension_track].dimensions
        widths = sorted({*values.columns, *asked})
        values = values.reindex(columns=widths)
        reached = values.where(ended.reindex(columns=widths, fill_value=False)).ffill(axis=1)
        reached = reached.fillna(values.ffill(axis=1))
        return reached[asked].groupby(level=["method", "dataset"], sort=False).mean()

    @cached_property
    def dimensions_offered(self) -> pd.DataFrame:
        """Whether a method succeeded at each n_components on every split of a data set."""
        ended: Any = self._by_width[1].reindex(columns=self.by_dimension.columns, fill_value=False)
        whole: pd.DataFrame = ended.groupby(level=["method", "dataset"], sort=False).all()
        return whole

    def dimensions(self, dataset: str = "") -> tuple[Any, Any]:
        """Return `by_dimension` and `dimensions_offered` over all data sets, or of one."""
        means, whole = self.by_dimension, self.dimensions_offered
        if dataset:
            return means.xs(dataset, level="dataset"), whole.xs(dataset, level="dataset")
        by: dict[str, Any] = {"level": "method", "sort": False}
        return means.groupby(**by).mean(), whole.groupby(**by).all()

    @cached_property
    def _by_width(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The metric by method, split and n_components, and whether the trial succeeded.

        A method without n_components is at 0. Only complete splits count, and only data sets
        with rows of all methods.
        """
        rows = _of_first_classifier(self._rows_of(self._dimension_track))
        if rows.empty:
            return pd.DataFrame(), pd.DataFrame()
        keys = ["dataset", "split", "split_hash"]
        sizes = rows.groupby(keys)["method"].transform("size")
        rows = rows[sizes == sizes.groupby(rows["dataset"]).transform("max")]
        n_methods = rows["method"].nunique()
        rows = rows[rows.groupby("dataset")["method"].transform("nunique") == n_methods]
        table = rows.assign(width=rows["width"].fillna(0).astype(int), ended=rows["status"] == OK)
        table = table.set_index(["method", *keys, "width"])
        values = table[self.suite.metrics[0]].unstack("width").sort_index(axis="columns")
        return values, table["ended"].unstack("width", fill_value=False)

    @cached_property
    def permuted(self) -> pd.DataFrame:
        """Accuracy on permuted labels by method and data set: seen in training, and held out."""
        metric = self.suite.metrics[0]
        rows = self.rows[self.rows["control"] == SHUFFLED_LABELS]
        if SEEN not in rows or metric not in AGREEMENTS or rows.empty:
            return pd.DataFrame(columns=["seen", "held_out", "largest"])
        rows = _of_first_classifier(rows)
        sign, floor = AGREEMENTS[metric], f"floor_{metric}"
        right = rows[metric] if sign > 0 else 1 - rows[metric]
        largest = rows[floor] if sign > 0 else 1 - rows[floor]
        table = rows.assign(seen=1 - rows[SEEN], held_out=right, largest=largest)
        by = table.groupby(["method", "dataset"], sort=False)[["seen", "held_out", "largest"]]
        return by.mean().dropna()

    @cached_property
    def chosen(self) -> dict[tuple[str, str, str], pd.Series[str]]:
        """The settings of tuned rows, by classifier, data set and method."""
        rows = self.rows[(self.rows["track"] == INDUCTIVE) & self.rows["tuned"]]
        by = rows.groupby(["classifier", "dataset", "method"], sort=False)["setting"]
        return {(str(c), str(d), str(m)): group for (c, d, m), group in by}

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The number of failed rows by method, track, data set and reason."""
        return failures(self.rows)

    @property
    def order(self) -> list[str]:
        """The methods in the leaderboard's order."""
        board = self.board()
        return [] if board is None else list(board.table["method"])

    def growth_of(self, method: str) -> Growth | None:
        """Return how the time and memory of a method grow at its defaults, if measured."""
        # A kernel makes kernel_laplacian_rls another algorithm than its reducer at the defaults.
        if method in growths() and method not in REDUCERS.ours:
            return growths()[method]
        return growths().get(str((self.suite.methods.get(method) or {}).get("name", method)))

    @property
    def _tuned_rows(self) -> pd.DataFrame:
        board = self.board(tuned=True)
        rows = self.rows.iloc[:0] if board is None else board.rows_of(self.rows)
        return rows[rows["tuned"]]

    @property
    def _dimension_track(self) -> str:
        # A track of measures also varies n_components; it is left out here.
        return self._track_with("dimensions", but="measures")

    def _track_with(self, what: str, but: str = "") -> str:
        """Return the first track that varies something, empty if there is none."""
        tracks = self.suite.tracks.items()
        found = (name for name, how in tracks if getattr(how, what) and not getattr(how, but, ""))
        return next(found, "")

    def _rows_of(self, track: str) -> pd.DataFrame:
        """Return the rows of a track's methods, without those of controls."""
        return self.rows[(self.rows["track"] == track) & (self.rows["control"] == "")]


def _size(value: Any) -> float:
    """Return a number, or the factor of a multiple of a kernel's scale; else nan."""
    try:
        return scale_factor(str(value))
    except ValueError:
        return float("nan")


def _ranks(values: Any) -> pd.Series[int]:
    """Return the ranks of values, the highest first, as a leaderboard has them."""
    ranks: pd.Series[int] = values.round(12).rank(method="min", ascending=False).astype(int)
    return ranks


def _of_first_classifier(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["classifier"].isin(shared_classifiers(rows)[:1])]


def benchmark_of(
    suite: Suite,
    folder: Path,
    *,
    tracks: Sequence[str] = (),
    only: Sequence[str] = (),
    results: Path | None = None,
) -> Benchmark:
    """Return the results in a suite's folder; an InputError if it has no rows.

    Submitted methods are next to the folder, or in `results`.
    """
    folders = folders_of(suite, folder, tracks=tracks, only=only)
    rows = suite_rows(suite, folders)
    places = {folder.parent, results or folder.parent}
    paths = sorted(path for place in places for path in submissions_of(suite.name, place))
    submitted = [Submission.read(path) for path in paths]
    joining: dict[str, list[pd.DataFrame]] = {"method": [], "ensemble": []}
    known = {}
    for each in submitted:
        if len(own := each.rows(rows, each.card.track)):
            joining[each.card.kind].append(own)
            known[each.card.label] = each
    rows = with_selected_classifier(pd.concat([rows, *joining["method"]], ignore_index=True))
    audits = tuple(read_audits(folder))
    return Benchmark(suite, rows, folders, audits, known, joining["ensemble"])
