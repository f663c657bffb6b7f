"""Common code of a run's drawings: its methods and their looks, scale, texts and legend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ddr_cli.comparison.names import (
    family_name,
    is_rate,
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
    best_over_resplits,
    parameter_columns,
    swept_columns,
    with_tuned_names,
)
from ddr_cli.core.own_code import class_name
from ddr_cli.evaluation.metrics import LABEL_METRICS, get_scale
from ddr_cli.figures.notes import Notes
from ddr_cli.figures.style import (
    LARGEST,
    NEUTRAL,
    PAPER_FILL,
    STAR,
    Look,
    legend_below,
    legend_entry,
    looks_of,
    set_title,
    with_progress,
)
from ddr_cli.rows.log import OK
from ddr_cli.spec.budgets import ALL, LABELS, Budget
from ddr_cli.spec.sweeps import COMPONENTS, TRAIN

Method = tuple[str, str]
"""The display labels of a reducer and a classifier."""


_SIZES = {
    "per_class": "training samples per class",
    "fraction": "training fraction",
    "labelled": "labelled training samples",
}
_FEW_NAMED = 3
_FEWEST_FOR_BAND = 5  # splits


class Picture:
    """One metric of a run's summary, ready to be drawn.

    `rows` are the summary's rows of the metric, rates in percent; `methods` are in the order of the
    spec; `families` are the families of splits, the predefined one first, whatever the size of the
    training set; quoted numbers that belong to other rows are left out. With fewer than five
    splits, `low` and `high` are the lowest and highest score. On an axis of numbers of labels,
    "all" is one step beyond the largest number; `ticks` has the texts of this axis.
    """

    def __init__(self, summary: Summary, metric: str, notes: Notes) -> None:
        self.run = summary.run
        self.metric = metric
        self.scale = 100.0 if is_rate(metric) else 1.0
        # Figures select rows very often, and a selection takes time in proportion to the number of
        # columns, so columns of parameters that are not swept are dropped.
        fixed = {*parameter_columns(summary.methods.columns)} - {*swept_columns(summary.run)}
        rows = summary.methods[summary.methods["metric"] == metric].drop(columns=[*fixed])
        rows = _with_objects(with_tuned_names(rows))
        rows = rows.assign(failed=rows.get("failed", 0))
        if rows["failed"].any():
            trials = (summary.row(int(index)).trials for index in rows.index)
            rows = rows.assign(succeeded=[int((each["status"] == OK).sum()) for each in trials])
            # A method that failed on every split only has the majority-class baseline's score, so
            # it is not drawn.
            rows = rows[rows["succeeded"] > 0]
        self.rows = rows.assign(
            **{name: rows[name].astype(float) * self.scale for name in ("mean", "low", "high")}
        )
        self.rows["interval"] = "the middle " + self.rows["interval"].astype(str)
        # So few scores do not show where, for example, the middle 80 % lies.
        for index in self.rows.index[self.rows["n"].between(2, _FEWEST_FOR_BAND - 1)]:
            values = summary.row(int(index)).values * self.scale
            self.rows.loc[index, ["low", "high"]] = values.min(), values.max()
            kind = self.rows.loc[index, "interval"].partition(" of ")[2]
            self.rows.loc[index, "interval"] = f"the range of {kind}"
        if TRAIN in self.rows:
            self.rows["split"] = self.rows["split"].str.partition("-")[0]
        self.note = ""
        self.ticks: dict[float, str] = {}
        if LABELS in self.rows:
            places = _places_of(list(self.run.spec.labels))
            self.ticks = {place: str(budget) for budget, place in places.items()}
            self.rows[LABELS] = self.rows[LABELS].map(places).astype(float)
        self.quoted = [each for each in notes.quoted if each.row in rows.index]
        pairs = rows.drop_duplicates(["reducer_label", "classifier_label"])
        self.methods: list[Method] = list(
            pairs[["reducer_label", "classifier_label"]].itertuples(index=False, name=None)
        )
        self._pieces = {
            label: class_name(name)
            for piece in COMPONENTS
            for label, name in zip(pairs[f"{piece}_label"], pairs[piece], strict=True)
        }
        # Colours and markers show what varies: reducers, or the classifiers of a single reducer.
        self._place = 1 if pairs["reducer_label"].nunique() == 1 else 0
        largest = self.run.majority(metric)
        self.largest = np.nan if largest is None else largest * self.scale
        shown = self.rows[["mean", "low", "high"]]
        self.shows_largest = bool(shown.min().min() < self.largest < shown.max().max())
        families = set(self.rows["split"])
        self.families: list[str] = sorted(families, key=lambda name: name != "predefined")

    def untuned(self, method: Method) -> Method:
        """Return a tuned method at its default setting."""
        return method[0].removesuffix(TUNED_SUFFIX), method[1]

    def by_method(self, rows: pd.DataFrame) -> dict[Method, pd.DataFrame]:
        """Return the rows of each method that has any, in the order of `methods`."""
        found = {
            (str(reducer), str(classifier)): own
            for (reducer, classifier), own in rows.groupby(
                ["reducer_label", "classifier_label"], sort=False
            )
        }
        return {method: found[method] for method in self.methods if method in found}

    def keep_best_at(self, x: str) -> None:
        """For each method and value on the axis, keep only the row of the best other setting."""
        groups = self.rows.groupby(["reducer_label", "classifier_label", "split", x], sort=False)
        best = [best_index(group["mean"], self.metric) for _, group in groups]
        self.rows = self.rows.loc[sorted(best)]
        self.quoted = [each for each in self.quoted if each.row in best]
        self.note = f"at each {parameter_name(x, short=True)}: best setting of the other parameters"

    def axis_of(self, x: str) -> str:
        """Return the label of an axis of a swept parameter."""
        kind = self.run.spec.split.kind
        return _SIZES.get(kind, parameter_name(x)) if x == TRAIN else parameter_name(x)

    def value_text(self, name: str, value: Any) -> str:
        """Return a value of a swept parameter as text."""
        return self.ticks[float(value)] if name == LABELS else plain(float(value))

    def setting_text(self, name: str, value: float) -> str:
        """Return a swept parameter with its value, such as ``β = 0.5``."""
        return setting_text({name: self.value_text(name, value)})

    def row(self, index: int) -> pd.Series[Any]:
        """Return the row with an index label."""
        return cast("pd.Series[Any]", self.rows.loc[index])

    def of_family(self, family: str) -> pd.DataFrame:
        """Return the rows over a family of splits."""
        return self.rows[self.rows["split"] == family]

    def look(
        self,
        method: Method,
        *,
        place: int | None = None,
        alone: bool = False,
        among: Sequence[Method] = (),
    ) -> Look:
        """Return how a method is drawn: by its reducer, or its classifier (place 1).

        In its own panel it does not need another shade than similar methods, and a method `among`
        others in one panel gets its own colour instead.
        """
        place = self._place if place is None else place
        shown = [*among, *self.methods]
        labels = list(dict.fromkeys(self.untuned(each)[place] for each in shown))
        label = self.untuned(method)[place]
        names = [self._pieces[each] for each in labels]
        looks = looks_of(names, shades=not among)
        return looks[names.index(self._pieces[label]) if alone else labels.index(label)]

    def name(self, method: Method) -> str:
        """Return a method's name, without the reducer or the evaluator if all methods share it."""
        if len({name for name, _ in self.methods}) == 1:
            return method[1]
        return method[0] if self.evaluator else ", ".join(method)

    def curve_name(self, method: Method, x: str) -> str:
        """Return the name of a method with the parameter: of one reducer, the classifier."""
        several = len({name for name, _ in self.swept(x)}) > 1
        return self.name(method) if several or self.evaluator else method[1]

    @property
    def evaluator(self) -> str:
        """The single classifier or measure of several reducers, empty if there are more."""
        reducers, evaluators = ({method[place] for method in self.methods} for place in (0, 1))
        return next(iter(evaluators)) if len(evaluators) == 1 and len(reducers) > 1 else ""

    @property
    def axis(self) -> str:
        """The label of the axis of values, which names the classifier if there is only one."""
        measured = {method_name(each.label) for each in self.run.spec.measures}
        return metric_axis(self.metric, "" if self.evaluator in measured else self.evaluator)

    def family_title(self, family: str) -> str:
        """Return a description of a family of splits: ``Mean over 50 re-splits``."""
        own = self.of_family(family)
        n, planned = int(own["n"].max()), int(own["planned"].max())
        if family == "predefined":
            return "Predefined split (n = 1)"
        words = family_name(family, planned)
        if family == "whole" and planned == 1:
            return words.capitalize()
        if planned == 1:
            return f"On {words}"
        return f"Mean over {words}" if n == planned else f"Mean over {n} of {words}"

    def finish(
        self, figure: Figure, handles: Sequence[Any] = (), *, x: str = "", finding: str = ""
    ) -> None:
        """Add both lines of the title, a description, and a legend that covers nothing.

        For curves over `x`, the title names both axes.
        """
        reducers = {name for name, _ in (self.swept(x) if x else self.methods)}
        only = next(iter(reducers)) if len(reducers) == 1 else ""
        title = self.run.title
        if only and only not in title and self._pieces[only] != "none":
            title += f" ({only})"
        if x and self.metric in LABEL_METRICS:
            words = f"{metric_name(self.metric)} against {parameter_name(x)}"
            told = re.sub(r"([,:]) [^,:]+ against [^,:]+", rf"\1 {words}", title, count=1)
            title = told if " against " in title else f"{title}: {words}"
        set_title(figure, title, with_progress(self.run, finding or self.best()), self._words())
        legend_below(figure, handles)

    @property
    def word(self) -> str:
        """The word for the best value, empty if the metric has no better direction."""
        better = get_scale(self.metric).better
        return "" if better is None else "lowest" if better == "lower" else "highest"

    def value_of(self, value: float) -> str:
        """Return a value of the axis in words, such as ``9.12 %``."""
        return number(value / self.scale, self.metric)

    def best(self) -> str:
        """Return the best mean (over re-splits if there are any), its setting, and their number."""
        measures = {each.label for each in self.run.spec.measures}
        found = best_over_resplits(self.rows, self.metric) if self.word else None
        # The values of different measures cannot be compared.
        if found is None or found[1] < 2 or len({name for _, name in self.methods} & measures) > 1:
            return ""
        index, compared = found
        row = self.row(index)
        swept = {name: row[name] for name in swept_columns(self.run) if not pd.isna(row.get(name))}
        if LABELS in swept:
            swept[LABELS] = self.ticks[swept[LABELS]]
        where = [self.name(self.method_at(index))] if len(self.methods) > 1 else []
        where += [setting_text(swept)] if swept else []
        over = family_name(row["split"], int(row["n"]))
        what = "mean" if row["n"] > 1 else metric_name(self.metric)
        return (
            f"{self.word} {what}: {' at '.join(where)}, {self.value_of(row['mean'])} "
            f"(best of {compared} settings, {over})"
        )

    def best_along(self, x: str) -> str:
        """Return the values of a swept parameter at which each curve is lowest, or highest.

        If there are many curves, only the best one is named. The mean without reduction follows.
        """
        rows = self.of_family(self.families[-1]).dropna(subset=["mean"])
        own, swept = self.by_method(rows), self.swept(x)
        curves = {each: own[each].sort_values(x) for each in swept if each in own}
        if not self.word or not curves:
            return ""
        best = {each: best_index(own["mean"], self.metric) for each, own in curves.items()}
        several = len(curves) > 1
        reducing = self.reducing(list(curves))
        without = {
            each[1]: f" ({each[0]}: {self._where_best(x, curves[each], index)})"
            for each, index in best.items()
            if each not in reducing
        }
        best = {each: best[each] for each in reducing}
        if len(best) > _FEW_NAMED:
            first = best_index(rows.loc[list(best.values()), "mean"], self.metric)
            best = {self.method_at(first): first}
        without |= {
            each[1]: f" ({each[0]}: {self.value_of(float(own[each]['mean'].iloc[0]))})"
            for each in self.level(x)
            if self.reduces_nothing(each) and each in own
        }
        parts = []
        for each, index in best.items():
            part = f"{self.curve_name(each, x)}: " if several else ""
            part += self._where_best(x, curves[each], index)
            parts.append(part + without.get(each[1], ""))
        return "; ".join(parts)

    def _where_best(self, x: str, curve: pd.DataFrame, index: int) -> str:
        """Return the best mean, its place, and the range of means within one Monte-Carlo error."""
        first = last = place = list(curve.index).index(index)
        near = self.within_error(curve, index)
        while first > 0 and near[first - 1]:
            first -= 1
        while last + 1 < len(curve) and near[last + 1]:
            last += 1
        texts = [self.value_text(x, value) for value in curve[x]]
        span = " to ".join(dict.fromkeys([texts[first], texts[last]]))
        best = self.value_of(self.row(index)["mean"])
        if {*map(self.value_of, curve["mean"].iloc[first : last + 1])} == {best}:
            return f"{self.word} {best} at {setting_text({x: span})}"
        at = setting_text({x: texts[place]})
        return f"{self.word} {best} at {at}, within one Monte-Carlo error from {span}"

    def within_error(self, rows: pd.DataFrame, index: int) -> NDArray[np.bool_]:
        """Return which means are within one Monte-Carlo error, s/√n, of a row's mean."""
        row = rows.loc[index]
        error: float = (
            0.0 if pd.isna(row["sd"]) else float(self.scale * row["sd"] / np.sqrt(row["n"]))
        )
        near: NDArray[np.bool_] = ((rows["mean"] - row["mean"]).abs() <= error).to_numpy()
        return near

    def swept(self, x: str) -> list[Method]:
        """Return the methods that have a parameter and are drawn as curves over it."""
        rows = self.rows[self.rows[x].notna()]
        found = {*zip(rows["reducer_label"], rows["classifier_label"], strict=True)}
        return [each for each in self.methods if each in found]

    def level(self, x: str) -> list[Method]:
        """Return the methods that are the same for each value of a parameter."""
        swept = self.swept(x)
        return [each for each in self.methods if each not in swept]

    def reduces_nothing(self, method: Method) -> bool:
        """Return whether a method is the features themselves."""
        return self._pieces[method[0]] == "none"

    def reducing(self, methods: Sequence[Method]) -> list[Method]:
        """Return the methods other than the features themselves, or all if there are no others."""
        return [each for each in methods if not self.reduces_nothing(each)] or list(methods)

    def method_at(self, index: int) -> Method:
        """Return the method of the row with an index label."""
        row = self.row(index)
        return str(row["reducer_label"]), str(row["classifier_label"])

    def _words(self) -> str:
        """Return a description of the figure for readers who cannot see it."""
        if self.rows.empty:
            return "There are no results yet."
        parts = []
        for family in self.families:
            spans = []
            for method, own in self.by_method(self.of_family(family)).items():
                if len(means := own["mean"].dropna()):
                    ends = dict.fromkeys(f"{value:.4g}" for value in (means.min(), means.max()))
                    spans.append(f"{self.name(method)} {' to '.join(ends)}")
            parts.append(f"{self.family_title(family)}: {'; '.join(spans)}.")
        stars = dict.fromkeys(quoted.text for quoted in self.quoted)
        printed = f" {'; '.join(stars)}." if stars else ""
        return f"{self.axis[0].upper()}{self.axis[1:]}. {' '.join(parts)}{printed}"

    def handles(self, *, largest: bool = True) -> list[Any]:
        """Return the legend's entries for quoted numbers, intervals and the majority class."""
        found: list[Any] = []
        if self.quoted:
            star = STAR | {"markersize": 11}
            found.append(legend_entry("number in the paper", **star, color=PAPER_FILL))
        if len(partly := self.rows[self.rows["failed"] > 0]):
            counts = (partly["failed"], partly["failed"] + partly["succeeded"])
            ends = [dict.fromkeys((str(each.min()), str(each.max()))) for each in counts]
            text = f"failed on {' of '.join(map(' to '.join, ends))} splits"
            found.append(legend_entry(text, marker="o", color=NEUTRAL, markerfacecolor="white"))
        bands = self.rows.dropna(subset=["low"])
        if len(bands):
            label = bands["interval"].iloc[0]
            found.append(Patch(facecolor=NEUTRAL, alpha=0.35, label=label))
        if largest and self.shows_largest:
            text = f"majority class ({self.largest:.1f} %)"
            found.append(legend_entry(text, **LARGEST))
        return found


def _places_of(budgets: Sequence[Budget]) -> dict[Budget, float]:
    """Return the positions of numbers of labels on an axis; "all" is one step to the right."""
    numbers = sorted(budget for budget in budgets if budget != ALL)
    places: dict[Budget, float] = {number: float(number) for number in numbers}
    last = numbers[-1] if numbers else 1
    ratio = last / numbers[-2] if len(numbers) > 1 else 2.0
    return places | {ALL: last * max(ratio, 1.5)}


def _with_objects(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with their texts in one block of objects, which is quicker to select from."""
    texts: Any = rows.select_dtypes("string")
    return rows.astype(dict.fromkeys(texts, object))
