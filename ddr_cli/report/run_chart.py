"""The chart of a run: which kind it is, and the table that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ddr_cli.charts import style
from ddr_cli.charts.curves import BEST, DASHED, FEW, LEVELS, REFERENCE, curves
from ddr_cli.charts.dots import STROKE, dots, two_ends
from ddr_cli.charts.matrix import matrix
from ddr_cli.comparison.against_controls import AgainstControls
from ddr_cli.comparison.names import (
    is_rate,
    lower_is_better,
    number,
    parameter_name,
    plain,
    setting_text,
)
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import AXES, Summary, best_index
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.report.notes import NO_NOTES, Notes
from ddr_cli.report.run_embeddings import draw_embeddings, drawn_embeddings
from ddr_cli.report.run_rows import RunRows, with_progress
from ddr_cli.spec.budgets import LABELS

_MOST_PANELS = 4
_MOST_LARGE = 4  # panels in which curves are named; in more, the others are grey
_MOST_CURVES = 10  # in one panel
_MOST_LINES = 8  # in one panel with curves of both the predefined split and re-splits
_FEW_SPREADS = 4
_UNORDERED = "random_state"


def draw(summary: Summary, notes: Notes = NO_NOTES) -> Figure:
    """Draw the metric that a run's spec plots, with the numbers of the papers.

    A run with stored embeddings shows these. One swept parameter, numbers of labels, or sizes of
    the training set give curves. Two parameters give a panel per value of the second, or a matrix
    if it has many values. A parameter whose values are words gives a line for each word. Random
    states give a dot each on a method's line. Otherwise there is a dot per method, for its best
    setting.
    """
    embeddings = drawn_embeddings(summary, notes.marks)
    data = RunRows(summary, summary.run.spec.plot.y, notes)
    if embeddings:
        return draw_embeddings(summary, embeddings, with_progress(data.run, data.finding()))
    if data.rows.empty:
        with style.house_style():
            figure = style.new_figure(6.4, 1.6)
            style.finish(figure, style.Words(data.run.title, with_progress(data.run, "")))
        return figure
    if len(data.swept) == 1 and all(isinstance(value, str) for value in data.rows[data.swept[0]]):
        return _words_as_lines(data, data.swept[0])
    x, second = _axes_of(data)
    if x is not None and x.endswith(_UNORDERED) and second is None:
        return _dots(data, every=x)
    note = ""
    if x is None and summary.run.spec.plot.x in AXES:
        # A figure has fewer axes than there are swept parameters, so each method's best setting
        # at each value of x is drawn.
        x = summary.run.spec.plot.x
        data.keep_best_at(x)
        note = f"at each {parameter_name(x, short=True)}: best setting of the other parameters"
    if x is None:
        return _dots(data)
    if second is None or data.rows[second].nunique() <= _MOST_PANELS:
        return _curves(data, x, second, note)
    return _matrix(data, x, second)


def _axes_of(data: RunRows) -> tuple[str | None, str | None]:
    """Return the parameter on the x axis and the parameter that distinguishes the panels."""
    rows = data.rows
    swept = [
        name
        for name in data.swept
        if pd.api.types.is_numeric_dtype(rows[name]) and rows[name].nunique() > 1
    ]
    swept.sort(key=lambda name: name != data.run.spec.plot.x)
    if not swept or len(swept) > 2:
        return None, None
    return swept[0], swept[1] if len(swept) == 2 else None


# -- dots -----------------------------------------------------------------------------------------


def _dots(data: RunRows, every: str = "") -> Figure:
    """Draw one line per method: its best setting's mean, interval and quoted number.

    There is a panel per classifier, so that reducers are compared line by line. A parameter without
    an order, such as a random state, has all its values on one line, because no best value is
    selected; `every` names it.
    """
    by_reducer = data.run.spec.plot.x == "classifier"
    rows = data.rows
    panel, line = rows["classifier"], rows["untuned"]
    if by_reducer:
        panel, line = line, panel
    tuned = rows["untuned"] != rows["reducer"]
    default = ~tuned & bool(tuned.any())
    looks = data.looks("classifier" if by_reducer else "reducer")
    looks["marker"] = looks["marker"].where(~default, STROKE)
    kind = [f"One marker per value of {parameter_name(every)}"] if every else []
    kind += ["Best setting of each method"] * bool(data.swept and not every)
    several = panel.nunique() > 1
    rows = rows.assign(
        **looks,
        panel=[" · ".join([*[name] * several, *kind]) for name in panel],
        line=line,
        series=rows["family"].map(data.family_title).where(~default, "default setting"),
        hollow=(rows["family"] == "predefined") | (rows["failed"] > 0),
        star=np.nan,
    )
    stars = _with_stars(data, rows)
    if not every:
        groups = rows.groupby(["reducer", "classifier", "family"], sort=False)["value"]
        rows = rows.loc[[best_index(values, data.metric) for _, values in groups]]
    if tuned.any():
        sign = 1 if lower_is_better(data.metric) else -1
        best = rows["value"].mask(default).groupby([rows["panel"], rows["line"]]).transform("min")
        order = (sign * best.fillna(rows["value"])).sort_values(kind="stable").index
        panels = pd.Categorical(rows["panel"], rows["panel"].unique())
        rows = rows.assign(panel=panels).loc[order].sort_values("panel", kind="stable")
    legend = []
    for family in data.families:
        face = "white" if family == "predefined" else style.NEUTRAL
        text = f"tuned, {data.family_title(family)}" if tuned.any() else data.family_title(family)
        dot = {"marker": "o", "color": style.NEUTRAL, "markerfacecolor": face}
        legend.append(style.legend_entry(text, **dot))
    if tuned.any():
        stroke = {"marker": STROKE, "markersize": 11, "color": style.NEUTRAL}
        legend.append(style.legend_entry("default setting", **stroke))
    words = data.words(legend, x=data.axis, finding=_spread(data) if every else "")
    return dots(pd.concat([rows, stars]), words, reference=data.largest)


def _spread(data: RunRows) -> str:
    """Return the range of each method's means, for a few methods."""
    rows = data.rows[data.rows["family"] == data.families[-1]]
    ends = rows.groupby(data.name_rows(), sort=False)["value"].agg(["min", "max"]) / data.scale
    parts = [
        f"{name}: {' to '.join(dict.fromkeys(number(end, data.metric) for end in own))}"
        for name, *own in ends.itertuples()
    ]
    return "; ".join(parts) if len(parts) <= _FEW_SPREADS else ""


def _with_stars(data: RunRows, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that printed numbers are compared with, with a star instead of a dot."""
    values = [each.value * data.scale for each in data.quoted]
    nothing = {"value": np.nan, "low": np.nan, "high": np.nan, "series": None}
    stars = rows.loc[[each.row for each in data.quoted]].assign(star=values, **nothing)
    # A number that is compared with both families of splits is marked once.
    return stars.drop_duplicates(["panel", "line", "star"])


def _words_as_lines(data: RunRows, x: str) -> Figure:
    """Draw a line per value of the parameter, a dot per method, a panel per family of splits."""
    piece = "classifier" if data.rows["reducer"].nunique() == 1 else "reducer"
    names = data.name_rows()
    rows = data.rows.assign(
        **data.looks(piece, by_setting=True),
        panel=data.rows["family"].map(lambda family: _capital(data.family_title(family))),
        line=data.rows[x].map(plain),
        series=names,
        hollow=data.rows["failed"] > 0,
        star=np.nan,
    )
    order = [plain(value) for value in data.run.spec.axes[x]]
    rows = rows.sort_values("line", key=lambda lines: lines.map(order.index), kind="stable")
    legend = [
        style.legend_entry(row["series"], marker=row["marker"], color=row["colour"])
        for row in rows.drop_duplicates("series").to_dict("records")
    ]
    words = data.words(legend, x=data.axis)
    return dots(pd.concat([rows, _with_stars(data, rows)]), words, across=len(data.families))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def draw_shuffled_labels(run: Run, found: AgainstControls) -> Figure:
    """Draw a line per method from its accuracy on held-out samples to that on its training samples.

    The labels are shuffled, so the distance shows how far the method fits random labels.
    """
    rows = found.rows.dropna(subset=["seen", "held_out"])
    names = rows[["reducer", "classifier", "setting"]].itertuples(index=False)
    lines = [", ".join(filter(None, parts)) for parts in names]
    rows = (100 * rows[["held_out", "seen"]]).assign(line=lines)
    share = run.majority("accuracy")
    words = style.Words(
        f"{run.title}: shuffled labels",
        with_progress(run, ""),
        "Accuracy of each method on training and on test samples.",
        "accuracy on shuffled labels (%)",
    )
    ends = {"held_out": "on the test samples", "seen": "on the training samples"}
    return two_ends(rows, ends, words, None if share is None else 100 * share)


# -- curves and cells -----------------------------------------------------------------------------


def _curves(data: RunRows, x: str, second: str | None, note: str) -> Figure:
    """Draw the metric against a swept parameter, in one panel if it stays readable.

    The curves of the predefined split are dashed lines next to those of re-splits. Methods without
    the parameter are horizontal lines. Each value of `second` has a panel. Each method has a panel
    if there are more than ten methods (not counting no reduction), or several methods with several
    classifiers each. Each family of splits has a panel if a shared one would have more than eight
    lines.
    """
    rows = data.rows
    level = rows[x].isna()
    methods = rows.loc[~level, ["reducer", "classifier", "reduces"]].drop_duplicates()
    several = methods["reducer"].nunique() > 1
    both = several and methods["classifier"].nunique() > 1
    many = (methods["reduces"].sum() or len(methods)) > _MOST_CURVES
    n_lines = len(methods) * len(data.families)
    names, predefined = data.name_rows(x), rows["family"] == "predefined"
    thin = predefined & (len(data.families) > 1)
    panel = pd.Series(note, index=rows.index)
    own: tuple[str, ...] = ("classifier",) if not several else ("reducer",)
    if second is not None:
        values = rows[second].dropna().sort_values()
        panel = values.map(lambda value: setting_text({second: value}))
        own = ("reducer", "classifier") if both else own
    elif both or many:
        panel, own = rows["reducer"][~level], ("classifier",) if both else ("reducer",)
        names = names.where(level, rows["classifier"])
    elif len(data.families) > 1 and n_lines > _MOST_LINES:
        panel = rows["family"].map(lambda family: _capital(data.family_title(family)))
        thin[:] = False
    compact = panel.nunique() > _MOST_LARGE
    means = (number(value / data.scale, data.metric) for value in rows["value"])
    rows = rows.assign(
        **_curve_looks(data, own, level, compact=compact),
        row=rows.index,
        panel=panel,
        curve=names.where(~level, names + ": " + pd.Series(means, index=rows.index)),
        name=names,
        series=rows["family"],
        x=rows[x].astype(float),
        thin=thin,
        hollow=predefined | (rows["failed"] > 0),
    )
    rows = _with_every_panel(rows, list(panel.unique()))
    rows["best"] = _best(data, rows)
    unreduced = rows.loc[rows["x"].notna() & ~rows["reduces"], "panel"]
    reference = unreduced.iloc[0] if compact and len(unreduced) else ""
    return curves(
        rows,
        data.words(
            _curve_legend(data, rows, reference, compact=compact),
            x=data.axis_of(x),
            y=data.axis,
            along=x,
        ),
        log=data.run.spec.plot.log,
        ticks=data.ticks if x == LABELS else None,
        stars=_printed(data, rows),
        others=compact,
        reference=reference,
        level=data.largest,
        cut=x not in AXES,
    )


def _with_every_panel(rows: pd.DataFrame, panels: Sequence[str]) -> pd.DataFrame:
    """Return rows of which those without a panel, the horizontal lines, are in each of them."""
    parts = (rows[rows["panel"].isna() | (rows["panel"] == panel)] for panel in panels)
    shown = zip(parts, panels, strict=True)
    return pd.concat([part.assign(panel=panel) for part, panel in shown], ignore_index=True)


def _curve_looks(
    data: RunRows, own: tuple[str, ...], level: pd.Series[bool], *, compact: bool
) -> pd.DataFrame:
    """Return the looks of curves that differ in their reducer, their classifier, or both."""
    looks = data.looks(
        own[-1], by_setting=own[-1] == "classifier" or not compact, apart=not compact
    )
    if compact and own == ("classifier",):
        # Methods keep the colours they have in other figures.
        looks["colour"] = data.looks("reducer")["colour"]
    if len(own) > 1:
        codes = pd.factorize(data.rows["reducer"] + data.rows["classifier"].mask(level))[0]
        found = pd.DataFrame([vars(style.look(int(code))) for code in codes], index=level.index)
        looks = looks.where(level, found)
    return looks


def _best(data: RunRows, rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows are the best of a curve or, if there are many, of their panel."""
    found = pd.Series(False, index=rows.index)
    if get_scale(data.metric).better is None:
        return found
    shown = rows[rows["x"].notna() & ~rows["thin"]]
    for _, panel in shown.groupby("panel", sort=False):
        own = panel[panel["reduces"]] if panel["reduces"].any() else panel
        by = ["panel", "curve"] if panel["curve"].nunique() <= FEW else ["panel"]
        for _, values in own.groupby(by)["value"]:
            if values.count() > 1:
                found[best_index(values, data.metric)] = True
    return found


def _printed(data: RunRows, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that a paper prints, in the panels of the rows they are compared with."""
    found: list[dict[Any, Any]] = []
    quoted = {each.row for each in data.quoted}
    several = rows.loc[rows["row"].isin(quoted), "name"].nunique() > 1
    for each in data.quoted:
        for row in rows[rows["row"] == each.row].to_dict("records"):
            # The number of a method without the parameter is marked at the largest value.
            at = row["x"] if each.at is None else each.at
            name = f" ({row['name']})" if several else ""
            star = {"x": rows["x"].max() if pd.isna(at) else at, "value": each.value * data.scale}
            found.append({**row, **star, "text": each.text + name})
    # A number that is compared with both families of splits is marked once.
    same = ["panel", "name", "x", "value"]
    return pd.DataFrame(found, columns=[*rows, "text"]).drop_duplicates(same)


def _curve_legend(data: RunRows, rows: pd.DataFrame, reference: str, *, compact: bool) -> list[Any]:
    """Return the legend's entries: families of splits, the best mean, horizontal lines."""
    neutral: dict[str, Any] = {"color": style.NEUTRAL, "marker": "o"}
    legend = []
    for family in reversed(data.families):
        look = dict(neutral, linestyle="-")
        if family == "predefined":
            look["markerfacecolor"] = "white"
            look["linestyle"] = DASHED if len(data.families) > 1 else "-"
        legend.append(style.legend_entry(data.family_title(family), **look))
    if not compact:
        better = get_scale(data.metric).better
        word = {None: "", "lower": "lowest mean", "higher": "highest mean"}[better]
        return [*legend, *([style.legend_entry(word, **neutral | BEST)] if word else [])]
    shown, level = rows[rows["x"].notna()], rows[rows["x"].isna() & ~rows["thin"]]
    markers = shown.drop_duplicates("curve")
    if len(markers) > 1:
        for name, marker in zip(markers["curve"], markers["marker"], strict=True):
            legend.append(style.legend_entry(name, color=style.NEUTRAL, marker=marker))
    if reference:
        legend.append(style.legend_entry(reference, **REFERENCE))
    for place, row in enumerate(level.drop_duplicates("curve").to_dict("records")):
        look = {"color": row["colour"], "linestyle": LEVELS[place % len(LEVELS)]}
        legend.append(style.legend_entry(row["curve"], **look))
    return [*legend, style.legend_entry("other methods", color=style.OTHERS, linestyle="-")]


def _matrix(data: RunRows, x: str, second: str) -> Figure:
    """Draw a matrix per method, over the last family of splits, with the means in the cells.

    Means within one Monte-Carlo error of the best one are bold.
    """
    family = data.families[-1]
    rows = data.rows[data.rows["family"] == family].dropna(subset=[x, second])
    near = data.near_best(rows)
    rate, lower = is_rate(data.metric), lower_is_better(data.metric)
    title = f"{data.axis}, {data.family_title(family)}"
    names = data.name_rows()[rows.index]
    several = names.nunique() > 1
    texts = (f"{value:.1f}" if rate else f"{value:.3g}" for value in rows["value"])
    cells = rows.assign(
        panel=names if several else title,
        row=[data.value_text(second, value) for value in rows[second]],
        column=[data.value_text(x, value) for value in rows[x]],
        text=[text + "†" * bool(n) for text, n in zip(texts, rows["failed"], strict=True)],
        value=-rows["value"] if lower else rows["value"],
        bold=near,
    )
    cells = cells.sort_values([second, x], ascending=[False, True], kind="stable")
    finding = data.finding()
    if (more := int(near.sum()) - 1) > 0:
        finding += f"; bold: the best mean and {more} more within one Monte-Carlo error"
    if rows["failed"].any():
        finding += "; †: failed on some splits"
    finding = f"{title}; {finding}" if several else finding
    words = data.words([], x=data.axis_of(x), y=data.axis_of(second), finding=finding)
    return matrix(cells, replace(words, legend=[]), cell=(0.56, 0.42))
