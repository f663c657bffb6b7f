"""The rows of a run's summary as its chart shows them: values, names and looks of its methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from ddr_cli.charts import style
from ddr_cli.comparison.names import (
    family_name,
    is_rate,
    lower_is_better,
    method_name,
    metric_axis,
    metric_name,
    number,
    parameter_name,
    plain,
    setting_text,
)
from ddr_cli.comparison.summary import (
    TUNED_SUFFIX,
    Summary,
    best_index,
    parameter_columns,
    swept_columns,
    with_tuned_names,
)
from ddr_cli.core.own_code import class_name
from ddr_cli.evaluation.metrics import LABEL_METRICS, get_scale
from ddr_cli.report.notes import Notes
from ddr_cli.rows.log import OK
from ddr_cli.spec.budgets import ALL, LABELS, Budget
from ddr_cli.spec.sweeps import COMPONENTS, TRAIN

_SIZES = {
    "per_class": "training samples per class",
    "fraction": "training fraction",
    "labelled": "labelled training samples",
}
_FEWEST_FOR_BAND = 5  # splits
_FEW = 3  # methods


class RunRows:
    """One metric of a run's summary, ready to be drawn.

    `rows` has ``reducer`` and ``classifier`` (labels), ``family`` of splits, ``value``, ``low`` and
    ``high`` (rates in percent), ``failed`` splits, and the swept parameters. With fewer than five
    splits, ``low`` and ``high`` are the lowest and the highest score. `families` has the predefined
    split first. On an axis of numbers of labels, "all" is one step beyond the largest number;
    `ticks` has the texts of this axis.
    """

    def __init__(self, summary: Summary, metric: str, notes: Notes) -> None:
        self.run, self.metric = summary.run, metric
        self.scale = 100.0 if is_rate(metric) else 1.0
        self.swept = [name for name in swept_columns(self.run) if name in summary.methods]
        rows = _rows_of(summary, metric, self.swept, self.scale)
        self.ticks: dict[float, str] = {}
        if LABELS in rows:
            places = _places_of(list(self.run.spec.labels))
            self.ticks = {place: str(budget) for budget, place in places.items()}
            rows[LABELS] = rows[LABELS].map(places).astype(float)
        self._components = {
            label: class_name(name)
            for piece in COMPONENTS
            for label, name in zip(rows[f"{piece}_label"], rows[piece], strict=True)
        }
        rows = rows.drop(columns=["reducer", "classifier"])
        rows = rows.rename(columns={"reducer_label": "reducer", "classifier_label": "classifier"})
        self.rows = rows.assign(
            untuned=rows["reducer"].str.removesuffix(TUNED_SUFFIX),
            reduces=[self._components[label] != "none" for label in rows["reducer"]],
        )
        self.families = sorted({*rows["family"]}, key=lambda name: name != "predefined")
        self.quoted = [each for each in notes.quoted if each.row in rows.index]
        largest = self.run.majority(metric)
        shown = self.rows[["value", "low", "high"]]
        self.largest: float | None = None
        if largest is not None and shown.min().min() < largest * self.scale < shown.max().max():
            self.largest = largest * self.scale

    def looks(self, piece: str, *, by_setting: bool = False, apart: bool = False) -> pd.DataFrame:
        """Return the colour, marker and dashes of each row: those of its reducer or its classifier.

        With `by_setting`, several settings of one estimator have different shades or, if all curves
        are in one panel (`apart`), different colours.
        """
        labels = list(self.rows["untuned" if piece == "reducer" else "classifier"])
        names = [self._components[label] for label in labels]
        keys = labels if by_setting else names
        name_of = dict(zip(keys, names, strict=True))
        order = list(dict.fromkeys(keys))
        looks = style.looks_of([name_of[key] for key in order], shades=not apart)
        found = dict(zip(order, looks, strict=True))
        return pd.DataFrame([vars(found[key]) for key in keys], index=self.rows.index)

    def keep_best_at(self, x: str) -> None:
        """For each method and value on the axis, keep only the row of the best other setting."""
        groups = self.rows.groupby(["reducer", "classifier", "family", x], sort=False)
        best = [best_index(group["value"], self.metric) for _, group in groups]
        self.rows = self.rows.loc[sorted(best)]
        self.quoted = [each for each in self.quoted if each.row in best]

    def name_rows(self, x: str = "") -> pd.Series[str]:
        """Return each row's method, without the reducer or the evaluator if all methods share it.

        Of methods that vary `x`, those of a single reducer are named after their classifiers.
        """
        rows = self.rows
        if rows["reducer"].nunique() == 1:
            return rows["classifier"]
        if rows["classifier"].nunique() == 1:
            return rows["reducer"]
        names: pd.Series[str] = rows["reducer"] + ", " + rows["classifier"]
        swept = rows[x].notna() if x else pd.Series(False, index=rows.index)
        if rows.loc[swept, "reducer"].nunique() == 1:
            names = names.where(~swept, rows["classifier"])
        return names

    @property
    def axis(self) -> str:
        """The label of the axis of values, which names the classifier if there is only one."""
        evaluators = self.rows["classifier"].unique()
        measured = {method_name(each.label) for each in self.run.spec.measures}
        only = len(evaluators) == 1 and self.rows["reducer"].nunique() > 1
        named = only and evaluators[0] not in measured
        return metric_axis(self.metric, str(evaluators[0]) if named else "")

    def axis_of(self, x: str) -> str:
        """Return the label of an axis of a swept parameter."""
        kind = self.run.spec.split.kind
        return _SIZES.get(kind, parameter_name(x)) if x == TRAIN else parameter_name(x)

    def value_text(self, name: str, value: float) -> str:
        """Return a value of a swept parameter as text."""
        return self.ticks[value] if name == LABELS else plain(float(value))

    def family_title(self, family: str) -> str:
        """Return a description of a family of splits: ``mean over 50 re-splits``."""
        own = self.rows[self.rows["family"] == family]
        n, planned = int(own["n"].max()), int(own["planned"].max())
        if family == "predefined":
            return "predefined split (n = 1)"
        words = family_name(family, planned)
        if planned == 1:
            return words if family == "whole" else f"on {words}"
        return f"mean over {words}" if n == planned else f"mean over {n} of {words}"

    def near_best(self, rows: pd.DataFrame) -> pd.Series[bool]:
        """Return which means are within one Monte-Carlo error, s/√n, of the best one."""
        best = rows.loc[best_index(rows["value"], self.metric)]
        error: float = (
            0.0 if pd.isna(best["sd"]) else self.scale * float(best["sd"]) / np.sqrt(best["n"])
        )
        near: pd.Series[bool] = (rows["value"] - best["value"]).abs() <= error
        return near

    def best(self) -> pd.DataFrame:
        """Return each method's best setting, over re-splits if there are any.

        The columns are ``method``, ``mean``, ``setting`` and ``compared`` (their number).
        """
        rows = self.rows[self.rows["family"].isin(self.families[-1:])].dropna(subset=["value"])
        names = self.name_rows(self.swept[0] if len(self.swept) == 1 else "")
        found = []
        for _, own in rows.groupby(["reducer", "classifier"], sort=False):
            index = best_index(own["value"], self.metric)
            row: Any = own.loc[index]
            swept = {
                name: self.value_text(name, row[name]) if name == LABELS else row[name]
                for name in self.swept
                if pd.notna(row[name])
            }
            each = {"method": names[index], "mean": row["value"] / self.scale}
            each |= {"setting": setting_text(swept), "compared": len(own), "index": index}
            found.append(each)
        return pd.DataFrame(found).set_index("index") if found else pd.DataFrame()

    def finding(self) -> str:
        """Return the best mean, its setting, and how many were compared; of few methods, of each.

        Empty if the metric has no better direction, or if the values are of different measures.
        """
        if self.rows.empty:
            return ""
        better, best = get_scale(self.metric).better, self.best()
        measures = {each.label for each in self.run.spec.measures} & {*self.rows["classifier"]}
        if better is None or best.empty or len(measures) > 1 or best["compared"].sum() < 2:
            return ""
        reducing = best[self.rows.loc[best.index, "reduces"] & (best["setting"] != "")]
        best = best if reducing.empty else reducing
        compared = int(best["compared"].sum())
        if len(best) > _FEW or not self.swept:
            best = best.loc[[best_index(best["mean"], self.metric)]]
        several = self.rows[["reducer", "classifier"]].drop_duplicates().shape[0] > 1
        parts = []
        for row in best.to_dict("records"):
            name = f"{row['method']}, " if several else ""
            at = f" at {row['setting']}" if row["setting"] else ""
            parts.append(f"{name}{number(row['mean'], self.metric)}{at}")
        row = self.rows.loc[best.index[0]]
        over = family_name(row["family"], int(row["n"]))
        word = "lowest" if better == "lower" else "highest"
        what = "mean" if row["n"] > 1 else "value"
        return f"{word} {what}: {'; '.join(parts)} (best of {compared} settings, {over})"

    def words(
        self, legend: Sequence[Any], *, x: str = "", y: str = "", along: str = "", finding: str = ""
    ) -> style.Words:
        """Return the words of the run's chart; the title of curves `along` a parameter names it."""
        rows = self.rows[self.rows[along].notna()] if along else self.rows
        reducers = rows["reducer"].unique()
        title = self.run.title
        only = str(reducers[0]) if len(reducers) == 1 else ""
        if only and only not in title and self._components[only] != "none":
            title += f" ({only})"
        if along and self.metric in LABEL_METRICS:
            axes = f"{metric_name(self.metric)} against {parameter_name(along)}"
            told = re.sub(r"([,:]) [^,:]+ against [^,:]+", rf"\1 {axes}", title, count=1)
            title = told if " against " in title else f"{title}: {axes}"
        return style.Words(
            title,
            with_progress(self.run, finding or self.finding()),
            f"{x or y} of each method. {'; '.join(map(self.family_title, self.families))}.",
            x,
            y,
            [*legend, *self._legend()],
            is_rate(self.metric),
            lower_is_better(self.metric),
        )

    def _legend(self) -> list[Any]:
        """Return the legend's entries for printed numbers, failures, intervals and the baseline."""
        found: list[Any] = []
        if self.quoted:
            star = style.STAR | {"markersize": 11}
            found.append(style.legend_entry("number in the paper", **star, color=style.PAPER_FILL))
        if len(partly := self.rows[self.rows["failed"] > 0]):
            counts = (partly["failed"], partly["failed"] + partly["succeeded"])
            ends = [dict.fromkeys((str(each.min()), str(each.max()))) for each in counts]
            text = f"failed on {' of '.join(map(' to '.join, ends))} splits"
            ring = {"marker": "o", "color": style.NEUTRAL, "markerfacecolor": "white"}
            found.append(style.legend_entry(text, **ring))
        if len(bands := self.rows.dropna(subset=["low"])):
            label = bands["interval"].iloc[0]
            found.append(Patch(facecolor=style.NEUTRAL, alpha=0.35, label=label))
        if self.largest is not None:
            text = f"majority class ({self.largest:.1f} %)"
            found.append(style.legend_entry(text, **style.LARGEST))
        return found


def _rows_of(summary: Summary, metric: str, swept: Sequence[str], scale: float) -> pd.DataFrame:
    """Return the rows of one metric with their family, value, interval, and failed splits."""
    rows = with_tuned_names(summary.methods[summary.methods["metric"] == metric])
    rows = rows.drop(columns={*parameter_columns(rows.columns)} - {*swept})
    rows = rows.assign(failed=rows.get("failed", 0), succeeded=rows["n"])
    if rows["failed"].any():
        trials = (summary.row(int(index)).trials for index in rows.index)
        rows["succeeded"] = [int((each["status"] == OK).sum()) for each in trials]
        # A method that failed on every split only has the majority-class baseline's score, so it
        # is not drawn.
        rows = rows[rows["succeeded"] > 0]
    rows = rows.assign(
        value=rows["mean"].astype(float) * scale,
        low=rows["low"].astype(float) * scale,
        high=rows["high"].astype(float) * scale,
        family=rows["split"].str.partition("-")[0] if TRAIN in rows else rows["split"],
        interval="the middle " + rows["interval"].astype(str),
    )
    # So few scores do not show where, for example, the middle 80 % lies.
    for index in rows.index[rows["n"].between(2, _FEWEST_FOR_BAND - 1)]:
        values = summary.row(int(index)).values * scale
        rows.loc[index, ["low", "high"]] = values.min(), values.max()
        kind = rows.loc[index, "interval"].partition(" of ")[2]
        rows.loc[index, "interval"] = f"the range of {kind}"
    return rows


def with_progress(run: Any, finding: str) -> str:
    """Return a finding with the progress of an unfinished run."""
    progress = "" if run.is_complete and not run.failed else f"[{run.progress}]"
    return " ".join(filter(None, [finding, progress]))


def _places_of(budgets: Sequence[Budget]) -> dict[Budget, float]:
    """Return the positions of numbers of labels on an axis; "all" is one step to the right."""
    numbers = sorted(budget for budget in budgets if budget != ALL)
    places: dict[Budget, float] = {number: float(number) for number in numbers}
    last = numbers[-1] if numbers else 1
    ratio = last / numbers[-2] if len(numbers) > 1 else 2.0
    return places | {ALL: last * max(ratio, 1.5)}
