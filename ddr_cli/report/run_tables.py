"""A run as a table, and its methods compared with its controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ddr_cli.comparison.against_controls import WITH_BASELINE, against_controls
from ddr_cli.comparison.names import (
    family_name,
    method_name,
    metric_axis,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.summary import (
    AXES,
    Row,
    Summary,
    best_index,
    find_item,
    swept_columns,
    with_tuned_names,
)
from ddr_cli.core.errors import printable
from ddr_cli.core.own_code import class_name
from ddr_cli.rows.log import OK
from ddr_cli.show.page import Grid
from ddr_cli.spec.budgets import LABELS
from ddr_cli.spec.sweeps import COMPONENTS, TRAIN

FAILED_MARK = "†"
"""Marks a mean that includes a split on which the method failed."""

_MOST_ROWS = 40
_MOST_FAILURES = 5
_MOST_COLUMNS = 4
_MOST_PLACES = 8

# -- a run ----------------------------------------------------------------------------------------


def run_table(summary: Summary) -> Grid:
    """Return a run's first metric as a table: a row per setting, a column per family of splits.

    Classifiers have separate columns, too, if that gives at most four columns. If there are more
    than 40 settings, only the best of each reducer and classifier is shown.
    """
    run = summary.run
    metric = run.spec.metrics[0]
    swept = swept_columns(run)
    cells = with_tuned_names(summary.methods[summary.methods["metric"] == metric])
    cells = pd.concat([cells, lost]) if len(lost := _lost(summary, cells)) else cells
    partial = "" if run.is_complete else f", {len(run.ok)} of {run.planned} trials"
    down = ["reducer_label", *(name for name in swept if name.startswith("reducer."))]
    across = ["classifier_label", *(name for name in swept if name.startswith("classifier."))]
    places = [name for name in swept if name in AXES]
    classifier = ""
    if places and cells["classifier_label"].nunique() == 1:
        # There is a column for each number of labels or samples, so the title names the only
        # classifier.
        classifier = str(cells["classifier_label"].iloc[0])
        across = across[1:]
    of_all = metric_axis(metric, classifier)
    if len(set(_tuples(cells, [*places, "split"]))) > _MOST_PLACES:
        down, places = [*down, *places], []
        cells = cells.assign(split=cells["split"].str.partition("-")[0])
    if len(set(_tuples(cells, [*across, *places, "split"]))) > _MOST_COLUMNS:
        down, across = [*down, *across], []
    if len(set(_tuples(cells, down))) > _MOST_ROWS:
        frame, left = _bests(summary, cells[cells.index >= 0], metric, places)
    else:
        frame, left = _all_of(cells, metric, down, [*across, *places, "split"])
    title = f"{run.spec.title or run.name}: {of_all}{partial}"
    return Grid(frame, title, (*_spread(cells), *_failures(summary, cells)), left)


def _lost(summary: Summary, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method that failed on all splits and has no score."""
    run = summary.run
    there = set(zip(cells["reducer_label"], cells["classifier_label"], strict=True))
    across = set(cells["classifier_label"])
    scored = run.trials[list(run.spec.metrics)].notna().any(axis=1)
    bad = run.trials[(run.trials["status"] != OK) & ~scored]
    records = []
    for _, group in bad.groupby(["reducer", "classifier", "family"], sort=False):
        trial: dict[Any, Any] = group.iloc[0].to_dict()
        found = [find_item(run, piece, trial) for piece in COMPONENTS]
        labels = tuple(method_name(item[1].label) for item in found if item is not None)
        if len(labels) == 2 and labels not in there and labels[1] in across:
            names = {"reducer_label": labels[0], "classifier_label": labels[1]}
            counts = dict.fromkeys(("n", "planned", "failed"), len(group))
            records.append({**names, "split": trial["family"], **counts})
    # Rows of the summary do not have negative indices.
    return pd.DataFrame(records, columns=cells.columns, index=range(-len(records), 0))


def _spread(cells: pd.DataFrame) -> list[str]:
    """Return a description of the number after ±, if there is one."""
    spread = cells[cells["sd"].notna()]
    if spread.empty:
        return []
    families = dict.fromkeys(spread["split"].str.partition("-")[0])
    words = " and ".join(family_name(str(family), 2).partition(" ")[2] for family in families)
    return [f"After ±: the standard deviation over {words}."]


def _failures(summary: Summary, cells: pd.DataFrame) -> list[str]:
    """Return a line for each method that failed on some of its splits."""
    run = summary.run
    if not run.failed:
        return []
    bad = run.trials[
        (run.trials["status"] != OK) & run.trials[list(run.spec.metrics)].isna().all(axis=1)
    ]
    lost = bad["reducer"].map(class_name).value_counts().items()
    unscored = [f"{FAILED_MARK} {name} has {n} failed trials without a score" for name, n in lost]
    if "failed" not in cells:
        return unscored
    rows = [Row(summary, int(index)) for index in cells.index[cells["failed"] > 0] if index >= 0]
    if not rows:
        return unscored
    lines = [
        f"{FAILED_MARK} {row.title} failed on {row.failed} of {row['planned']} splits"
        for row in rows[:_MOST_FAILURES]
    ]
    if len(rows) > _MOST_FAILURES:
        lines.append(
            f"{FAILED_MARK} {len(rows) - _MOST_FAILURES} more methods or settings failed on some "
            "splits"
        )
    return [
        *lines,
        *unscored,
        "If a method failed on a split, the split is scored as the majority class of its training "
        "set.",
    ]


def _all_of(
    cells: pd.DataFrame, metric: str, down: list[str], across: list[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a row per setting and a column per family, and the columns that name the settings."""
    settings, columns = _tuples(cells, down), _tuples(cells, across)
    texts = {
        (setting, column): _cell(row, metric)
        for setting, column, row in zip(settings, columns, cells.to_dict("records"), strict=True)
    }
    splits: dict[tuple[object, ...], int] = {}
    for column, n in zip(columns, cells["n"], strict=True):
        splits[column] = max(int(n), splits.get(column, 0))
    texts_of = {"reducer_label": "reducer", "classifier_label": "classifier"}
    left = [texts_of.get(name, parameter_name(name, short=True)) for name in down]
    heads = []
    for (*method, family), n in splits.items():
        names = " ".join(_above(*named) for named in zip(across, method, strict=False))
        heads.append(f"{names}\n{family_name(str(family), n)}".lstrip())
    rows = []
    for setting in dict.fromkeys(settings):
        shown = ["" if value is None else plain(value) for value in setting]
        rows.append([*shown, *(texts.get((setting, column), "") for column in splits)])
    return pd.DataFrame(rows, columns=[*left, *heads]), tuple(left)


def _above(column: str, value: object) -> str:
    """Return the heading of a column: ``k-NN``, ``5 labels``, ``train 20``."""
    if value is None:
        return ""
    if column == LABELS:
        return f"{value} label{'' if value == 1 else 's'}"
    return f"train {plain(value)}" if column == TRAIN else plain(value)


def _bests(
    summary: Summary, cells: pd.DataFrame, metric: str, places: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the best setting of each method, and which columns are text."""
    left = ("reducer", "classifier", *places, "split")
    rows = []
    keys = ["reducer_label", "classifier_label", *places, "split"]
    for method, group in cells.groupby(keys, sort=False):
        row = Row(summary, best_index(group["mean"], metric))
        rows.append(
            [
                *(str(name) for name in method[:2]),
                *(plain(row[name]) for name in places),
                family_name(row.family, row["n"]),
                _cell(cells.loc[row.index], metric),
                row.setting,
                str(len(group)),
            ]
        )
    return pd.DataFrame(rows, columns=[*left, "best", "best setting", "settings"]), (
        *left,
        "best setting",
    )


def _tuples(rows: pd.DataFrame, columns: list[str]) -> list[tuple[object, ...]]:
    """Return rows as tuples, with None if a component has no such parameter."""
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in rows[columns].itertuples(index=False, name=None)
    ]


def _cell(row: Any, metric: str) -> str:
    sd, failed = row["sd"], row.get("failed", 0)
    if failed and failed == row["n"]:
        return "failed"
    spread = "" if pd.isna(sd) else f" ± {number(sd, metric, unit=False)}"
    return number(row["mean"], metric, unit=False) + spread + FAILED_MARK * bool(failed)


# -- its methods against its controls -----------------------------------------------------------


def control_table(summary: Summary) -> Grid | None:
    """Return a run's methods compared with its controls, None if it has none."""
    found = against_controls(summary)
    if found is None or not {"scaled", "seen"} & set(found.rows):
        return None
    rows, notes = found.rows, []
    if "scaled" in rows:
        notes.append(
            f"Scaled: 0 is the majority-class baseline "
            f"({number(found.low or 0.0, found.metric)}), and 1 is {found.strongest} on all "
            "features."
        )
    elif found.high is not None and found.metric in WITH_BASELINE:
        notes.append(
            "There are no scaled scores, because the run does not state the score of the "
            "majority-class baseline: add the sizes of the classes to the card of "
            f"{printable(summary.run.spec.dataset.name)}, and repeat the run."
        )
    if "seen" in rows:
        notes.append(
            "Shuffled: the accuracy (%) after a fit to permuted labels, on the samples of the fit "
            "(seen) and on other samples (held out)."
        )
    if rows["failed"].any():
        scale = " The 0 of the scale is the largest class of all samples." * ("scaled" in rows)
        notes.append(
            f"{FAILED_MARK} A failed split is scored as the majority class of its training set."
            + scale
        )
    # A note instead of a single row would save no space.
    shown_rows = _MOST_ROWS if len(rows) > _MOST_ROWS + 1 else len(rows)
    if shown_rows < len(rows):
        notes.insert(0, f"{len(rows) - shown_rows} more rows are in summary.csv.")
    records = []
    for row in rows.head(shown_rows).to_dict("records"):
        record = {"method": f"{row['reducer']}, {row['classifier']}"}
        if rows["setting"].astype(bool).any():
            record["setting"] = row["setting"]
        mean = number(row["mean"], found.metric, unit=False) + FAILED_MARK * bool(row["failed"])
        record[metric_axis(found.metric)] = "failed" if row["failed"] == row["n"] else mean
        if "scaled" in rows:
            record["scaled"] = "" if pd.isna(row["scaled"]) else f"{row['scaled']:.2f}"
        for name, head in (("seen", "shuffled: seen"), ("held_out", "held out")):
            if name in rows:
                record[head] = "" if pd.isna(row[name]) else f"{100 * row[name]:.1f}"
        records.append(record)
    return Grid(
        pd.DataFrame(records), "Methods compared with controls", tuple(notes), left=("setting",)
    )
