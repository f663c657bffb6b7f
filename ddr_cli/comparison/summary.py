"""Turns a journal into one row per method, setting and family of splits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.comparison.names import (
    family_name,
    lower_is_better,
    method_name,
    plain,
    setting_text,
)
from ddr_cli.comparison.runs import Run, load_run
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.evaluation.statistics import (
    MeanInterval,
    mean_interval,
    rate_variance,
    split_interval,
)
from ddr_cli.rows.log import OK, parameter_text
from ddr_cli.rows.manifest import MANIFEST
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.components import Item, ReducerSpec
from ddr_cli.spec.controls import SHUFFLED_LABELS
from ddr_cli.spec.sweeps import COMPONENTS, TRAIN

MEAN_LEVEL = 0.95
"""Level of the corrected interval of a mean and of a difference."""

CHOSEN = "chosen"
CONTROL = "control"
"""The control that a row belongs to; empty for a method."""

TUNED = "tuned"
TUNED_SUFFIX = f", {TUNED}"
"""Whether a row's settings were selected on inner folds; only runs that tune have this column."""

AXES = (TRAIN, LABELS)
"""What a run may vary besides parameters; its summary has these columns only if it does."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The summary of a run and, for each of its rows, the index labels of its trials by split."""

    run: Run
    rows: pd.DataFrame
    members: tuple[Any, ...]

    @cached_property
    def methods(self) -> pd.DataFrame:
        """The rows without those of shuffled labels."""
        return self.rows[self.rows[CONTROL] != SHUFFLED_LABELS]

    @property
    def shuffled(self) -> pd.DataFrame:
        """The rows of methods that were given shuffled labels."""
        return self.rows.drop(self.methods.index)

    @cached_property
    def by_names(self) -> dict[tuple[str, str, str, str], list[int]]:
        """The methods' rows by reducer, classifier, family of splits and metric."""
        groups: Any = self.methods.groupby(["reducer", "classifier", "split", "metric"]).groups
        return {names: rows.tolist() for names, rows in groups.items()}

    @cached_property
    def cells(self) -> dict[str, Sequence[Any]]:
        """The columns: papers ask for single cells, which a table is slow to give."""
        return {str(name): _cells_of(self.rows[name]) for name in self.rows}

    @cached_property
    def trial_splits(self) -> list[Sequence[Any]]:
        """The names and the hashes of the splits of all trials of the run."""
        return [_cells_of(self.run.trials[name]) for name in ("split", "split_hash")]

    @cached_property
    def _rows_by_index(self) -> dict[int, Row]:
        return {}

    def row(self, index: int) -> Row:
        """Return a row; cached, because papers often request the trials of the same row."""
        return self._rows_by_index.setdefault(index, Row(self, index))


@dataclass(frozen=True)
class Row:
    """One row of one run's summary."""

    summary: Summary
    index: int

    def __getitem__(self, column: str) -> Any:
        return self.summary.cells[column][self.index]

    @property
    def family(self) -> str:
        """The family of splits."""
        return str(self["split"])

    @property
    def setting(self) -> str:
        """The swept parameters that its method has, such as ``β = 0.562``."""
        values = {
            name: self[name]
            for name in swept_columns(self.summary.run)
            if name in self.summary.rows
            and not _is_missing(self[name])
            and not self._is_in_label(name)
        }
        return setting_text(values)

    def _is_in_label(self, column: str) -> bool:
        """Return whether the label names a parameter's value, as in ``PCA (dim = 1)``."""
        piece, _, name = column.partition(".")
        if piece not in COMPONENTS:
            return False
        value = self[column]
        facts = str(self[f"{piece}_label"]).partition(" (")[2].removesuffix(")").split(", ")
        forms = {setting_text({column: value}), f"{name}={plain(value)}"}
        return not forms.isdisjoint(facts) or (isinstance(value, str) and value in facts)

    @property
    def is_tuned(self) -> bool:
        """Whether its settings were chosen on inner folds."""
        return TUNED in self.summary.rows and bool(self[TUNED])

    @property
    def failed(self) -> int:
        """The number of splits on which it failed."""
        return int(self["failed"]) if "failed" in self.summary.rows else 0

    @property
    def is_shuffled(self) -> bool:
        """Whether its method was given shuffled labels."""
        return bool(self[CONTROL] == SHUFFLED_LABELS)

    @property
    def settings(self) -> str:
        """Its setting (if tuned, the most frequent choice), and whether labels are shuffled."""
        chosen = f"{TUNED}: {self[CHOSEN] or 'nothing to choose'}" if self.is_tuned else ""
        shuffled = "shuffled labels" if self.is_shuffled else ""
        return "; ".join(text for text in (self.setting, chosen, shuffled) if text)

    @property
    def title(self) -> str:
        """The method and its setting, such as ``CCDR, k-NN at β = 0.562``."""
        name = f"{self['reducer_label']}, {self['classifier_label']}"
        if self.is_tuned:
            name += TUNED_SUFFIX
        return f"{name} at {self.setting}" if self.setting else name

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The trials behind it, in order of split."""
        trials: pd.DataFrame = self.summary.run.trials.loc[self.summary.members[self.index]]
        return trials

    @cached_property
    def splits(self) -> tuple[list[str], list[str]]:
        """The hashes of its splits, and the same preceded by the names of the splits."""
        members = self.summary.members[self.index]
        names, hashes = ([cells[i] for i in members] for cells in self.summary.trial_splits)
        return hashes, [" ".join(both) for both in zip(names, hashes, strict=True)]

    @cached_property
    def values(self) -> pd.Series[Any]:
        """The metric's values, in order of split."""
        members = self.summary.members[self.index]
        values: pd.Series[Any] = self.summary.run.trials[self["metric"]].loc[members].astype(float)
        return values


def _cells_of(column: pd.Series[Any]) -> Sequence[Any]:
    """Return a column in the form that is quickest to index; the cells stay the same."""
    is_plain = isinstance(column.dtype, np.dtype)
    cells: Sequence[Any] = column.to_numpy() if is_plain else list(column.array)  # type: ignore[assignment]
    return cells


def best_index(means: pd.Series[Any], metric: str) -> int:
    """Return the index label of the best mean (ties: the first)."""
    best: Any = means.idxmin() if lower_is_better(metric) else means.idxmax()
    return int(best)


def best_over_resplits(rows: pd.DataFrame, metric: str) -> tuple[int, int] | None:
    """Return the index label of the best mean, and the number of settings compared.

    The means are over re-splits if there are any, because the minimum over a single split favours
    chance.
    """
    rows = rows.dropna(subset=["mean"])
    over = rows[rows["split"] != "predefined"]
    rows = rows if over.empty else over
    return None if rows.empty else (best_index(rows["mean"], metric), len(rows))


def swept_columns(run: Run) -> list[str]:
    """Return the axes that the spec varies: numbers of labels, then the parameters of its sweep."""
    varied = [name for name, values in run.spec.axes.items() if len(values) > 1]
    return [LABELS, *varied] if len(run.spec.labels) > 1 else varied


def with_tuned_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a summary's rows with tuned reducers labelled as tuned. ``CCDR, tuned``."""
    if TUNED not in rows:
        return rows
    named = rows["reducer_label"].where(~rows[TUNED], rows["reducer_label"] + TUNED_SUFFIX)
    return rows.assign(reducer_label=named)


def _named(keys: Sequence[str], key: Sequence[Any]) -> dict[str, Any]:
    """Return a setting by name; a missing number of labels means that all are given."""
    setting = dict(zip(keys, key, strict=True))
    if LABELS in setting and _is_missing(setting[LABELS]):
        setting[LABELS] = ALL
    return setting


def _order_of(setting: Mapping[str, Any], places: Sequence[int], names: Sequence[str]) -> Any:
    """Return the sort key of a setting's rows."""
    return (
        setting[CONTROL] == SHUFFLED_LABELS,
        *places,
        setting.get(TUNED, False),
        *(_sort_key(setting[name]) for name in names),
        setting["family"] != "predefined",
        setting["family"],
    )


def summarize(run: Run) -> Summary:
    """Summarise a run: a row per method, setting, family of splits and metric.

    In addition to the columns that identify a row, there are `n` (trials with a score), `failed`
    (only in runs with failures: the trials that failed, whose score is that of the majority-class
    baseline of the training set), `planned`, `mean`, `sd` (n - 1 in the denominator), `low`,
    `high`, `level`, `interval` (what varies between `low` and `high`), `mean_low` and `mean_high`
    (the interval of the mean, of level `mean_level`) and `mean_interval` (its correction). A
    predefined split is one value and has no interval. A measure only has a row of its own metric.
    In a run with numbers of labels per class, `labels` has these numbers, and the text ``all``. In
    a run that tunes, `tuned` marks the rows of tuned settings: their parameter columns are empty,
    and `chosen` has the setting that was selected most often.
    """
    # `members` are row positions, but a subset of a run's trials has gaps in its index.
    run = replace(run, trials=run.trials.reset_index(drop=True))
    parameters = parameter_columns(run.trials.columns)
    axes, tuned = (
        [name for name in names if name in run.trials.columns] for names in (AXES, (TUNED,))
    )
    settings = [*parameters, *axes, *tuned, CONTROL]
    keys = ["reducer", "classifier", *settings, "family"]
    found: list[tuple[tuple[Any, ...], dict[str, Any], Any]] = []
    trials = _in_order_of_split(run.trials)
    if tuned:
        trials = _without_chosen_values(run, trials, parameters)
    values = {metric: run.trials[metric].to_numpy(dtype=float) for metric in run.spec.metrics}
    is_ok = (run.trials["status"] == OK).to_numpy()
    # Only one column is grouped, because extracting the groups of a whole table is slow.
    for key, group in trials.groupby(keys, dropna=False, sort=False)["status"]:
        members = group.index.to_numpy()
        setting = _named(keys, key)
        items = {piece: _item_of(run, piece, setting) for piece in COMPONENTS}
        places = [place for place, _ in items.values()]
        order = _order_of(setting, places, [*parameters, *axes])
        named = setting | {
            f"{piece}_label": method_name(item.label) for piece, (_, item) in items.items()
        }
        named["dataset"] = run.trials["dataset"].iat[members[0]]
        if run.failed:
            named["failed"] = int((~is_ok[members]).sum())
        for position, metric in enumerate(run.spec.metrics):
            # A row of a measure has values only for the measure's own metric.
            own = values[metric][members]
            scored = members[~np.isnan(own)]
            if not len(scored):
                continue
            row = named | _statistics(run, setting["family"], metric, values[metric][scored])
            if setting.get(TUNED):
                chose = run.trials.loc[scored[is_ok[scored]]]
                row[CHOSEN] = _chosen_most_often(chose, setting, parameters)
            found.append(((*order, position), row, scored))
    found.sort(key=itemgetter(0))
    columns = ["dataset", "reducer", "reducer_label", "classifier", "classifier_label", *settings]
    columns += ["split", "metric", "n", *["failed"] * bool(run.failed), "planned", "mean", "sd"]
    columns += ["low", "high", "level", "interval"]
    columns += ["mean_low", "mean_high", "mean_level", "mean_interval", *[CHOSEN] * bool(tuned)]
    rows = pd.DataFrame([row for _, row, _ in found], columns=columns)
    # A missing value would turn integers into objects, which can't be the values of an axis.
    for name in (*parameters, *axes):
        if name != LABELS and rows[name].dtype != run.trials[name].dtype:
            rows[name] = rows[name].astype(run.trials[name].dtype)
    return Summary(run, rows, tuple(members for _, _, members in found))


def parameter_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of trials or of a summary that hold parameters."""
    return [name for name in columns if name.partition(".")[0] in COMPONENTS and "." in name]


def _in_order_of_split(trials: pd.DataFrame) -> pd.DataFrame:
    # The order affects the last digit of a sum, and the journal has trials as they finished.
    names = pd.Series(trials["split"].unique())
    index = names.str.extract(r"(?:^|-)(\d+)$", expand=False).astype(float)
    places = trials["split"].map(dict(zip(names, index, strict=True)))
    return trials.loc[places.sort_values(kind="stable", na_position="first").index]


def summary_of(folder: Path) -> Summary:
    """Return the summary of a result folder, complete or partial."""
    return summarize(load_run(folder))


def _without_chosen_values(
    run: Run, trials: pd.DataFrame, parameters: Sequence[str]
) -> pd.DataFrame:
    """Return trials with a column that marks tuned ones, whose selected values are removed."""
    trials = trials.assign(**{TUNED: trials[TUNED].notna()})
    keys = ["reducer", "classifier", *parameters]
    for key, group in trials[trials[TUNED]].groupby(keys, dropna=False, sort=False):
        setting: dict[str, Any] = dict(zip(keys, key, strict=True)) | {TUNED: True}
        for piece in COMPONENTS:
            for name in _item_of(run, piece, setting)[1].grids:
                trials.loc[group.index, f"{piece}.{name}"] = None
    return trials


def _chosen_most_often(
    trials: pd.DataFrame, setting: Mapping[str, Any], parameters: Sequence[str]
) -> str:
    """Return the most frequent setting of tuned trials: ``dim = 5, β = 0.1 (12 of 20)``."""
    own = [name for name in parameters if _is_missing(setting[name]) and trials[name].notna().any()]
    if not own:
        return ""
    counts = trials.groupby(own, dropna=False, sort=True).size()
    values = counts.idxmax()
    most = dict(zip(own, values if isinstance(values, tuple) else (values,), strict=True))
    return f"{setting_text(most)} ({counts.max()} of {len(trials)})"


def _statistics(run: Run, family: str, metric: str, values: NDArray[np.float64]) -> dict[str, Any]:
    n = len(values)
    found: dict[str, Any] = {
        "split": family,
        "metric": metric,
        "n": n,
        "planned": run.planned_splits(family),
        "mean": float(np.mean(values)),
        "interval": "one split: no interval",
    }
    if n < 2:
        return found
    level = run.spec.plot.interval
    low, high = split_interval(values, level)
    found |= {
        "sd": float(np.std(values, ddof=1)),
        "low": low,
        "high": high,
        "level": level,
        "interval": f"{100 * level:g} % of {family_name(family, n)}",
    }
    mean = corrected_interval(run, family, metric, values, rate_variance(found["mean"]))
    if mean is not None:
        found |= {"mean_low": mean.low, "mean_high": mean.high, "mean_level": MEAN_LEVEL}
        found["mean_interval"] = mean.name
    return found


def corrected_interval(
    run: Run,
    family: str,
    metric: str,
    values: NDArray[np.float64],
    variance: float,
    *,
    lowest: float = 0.0,
) -> MeanInterval | None:
    """Return the interval of the mean of `values` over splits, None if their sizes are unknown.

    `variance` is that of one test sample, for a rate; `lowest` is the smallest value of a rate.
    """
    sizes = run.sizes(family)
    if sizes is None or min(sizes) == 0:
        return None
    scale = get_scale(metric)
    return mean_interval(
        values,
        MEAN_LEVEL,
        n_train=sizes[0],
        n_test=sizes[1],
        # Samples of one group are not independent, so the variance does not apply to groups.
        point_variance=variance if scale.of_points and not family.startswith("grouped") else None,
        within=(lowest, 1) if scale.rate else (-np.inf, np.inf),
    )


def _sort_key(value: Any) -> tuple[int, float, str]:
    if _is_missing(value):
        return (0, 0.0, "")
    if isinstance(value, bool | str) or not np.isscalar(value):
        return (2, 0.0, str(value))
    return (1, float(value), "")  # type: ignore[arg-type]  # a NumPy or Python number


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def find_item(run: Run, piece: str, setting: Mapping[str, Any]) -> tuple[int, Item] | None:
    """Return the item of the spec that a setting comes from, and its position in its list.

    In a `tuned` setting, the selected values do not identify the item.
    """
    items: Sequence[Item] = run.spec.reducers if piece == "reducer" else run.spec.evaluators
    found = [
        (place, item)
        for place, item in enumerate(items)
        if item.name == setting[piece]
        and all(
            any(same_value(setting[column], value) for value in values)
            for name, values in _fixed(run, item, is_tuned=bool(setting.get(TUNED))).items()
            # A parameter that is newer than the journal has no column; all rows have its default.
            if (column := f"{piece}.{name}") in setting
        )
    ]
    return found[0] if found else None


def _fixed(run: Run, item: Item, *, is_tuned: bool) -> dict[str, Sequence[Any]]:
    """Return the values that an item's trials may have for parameters that are not swept."""
    values: dict[str, Sequence[Any]] = {name: [value] for name, value in item.params.items()}
    if isinstance(item, ReducerSpec):
        values["mode"] = [item.mode]
    if run.spec.tune is None or not item.is_tunable:
        values |= item.grids
    chosen = item.grids if is_tuned else {}
    return {
        name: each
        for name, each in values.items()
        if name not in chosen and f"{item.prefix}.{name}" not in run.spec.sweep
    }


def _item_of(run: Run, piece: str, setting: Mapping[str, Any]) -> tuple[int, Item]:
    found = find_item(run, piece, setting)
    if found is None:
        raise InputError(
            f"{run.folder / MANIFEST} has no parameters of the {piece} '{setting[piece]}'; run the "
            "spec again with --redo all."
        )
    return found


def same_value(found: Any, wanted: Any) -> bool:
    """Compare a value from a table with one from YAML: 4.0 equals 4, an empty cell equals null."""
    if _is_missing(wanted) or _is_missing(found):
        return _is_missing(wanted) and _is_missing(found)
    if isinstance(wanted, bool) or isinstance(found, bool | np.bool_):
        return str(found) == str(wanted)
    try:
        return math.isclose(float(found), float(wanted), rel_tol=1e-9)
    except (TypeError, ValueError):
        return str(found) == parameter_text(wanted)
