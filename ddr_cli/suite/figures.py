"""A suite's figures of one value, or a few, per method."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox
from scipy import stats

from ddr_cli.comparison.names import (
    is_rate,
    lower_is_better,
    method_name,
    metric_axis,
    metric_name,
)
from ddr_cli.figures.style import (
    LARGEST,
    NEUTRAL,
    ON_CELL,
    OTHERS,
    house_style,
    lay_out,
    legend_below,
    legend_entry,
    look,
    looks_of,
    name_lines,
    new_figure,
    set_title,
)
from ddr_cli.suite.benchmark import LEAVING_OUT, Benchmark
from ddr_cli.suite.leaderboard import Leaderboard, ranks_text

# In points: the gap between a marker and its name, the width of a letter, and the height of a step
# by which a name moves up or down.
_GAP, _LETTER, _LINE = 5, 4.5, 4.0
_BAND = "#fff3d1"
_FIRST_YEAR = 1990
_HEIGHTS = (0, 1, -1, 2, -2, 3, -3, 4, -4)


def draw_scores(board: Leaderboard) -> Figure:
    """Draw a line per method, by rank: its score with its interval over data sets.

    Filled markers on a shaded band: the method cannot be distinguished from the first (Wilcoxon's p
    with Holm's correction is 0.05 or more).
    """
    table = board.table
    level = board.level()
    with house_style():
        figure = new_figure(7.4, 1.9 + 0.22 * len(table))
        axes = figure.subplots()
        lines = range(len(table))
        axes.hlines(lines, table["low"], table["high"], color=OTHERS, linewidth=2.4, zorder=1.5)
        for line, score, filled in zip(lines, table["score"], level, strict=True):
            face = NEUTRAL if filled else "white"
            axes.plot([score], [line], "o", color=NEUTRAL, markerfacecolor=face, markersize=5)
            if filled:
                axes.axhspan(line - 0.5, line + 0.5, color=_BAND, linewidth=0, zorder=0)
        names = [
            f"{method_name(row['method'])}   {row['place']} ({ranks_text(row) or '–'})"
            for row in table.to_dict("records")
        ]
        name_lines(axes, names)
        axes.set_xlabel("score: 0 is the majority-class baseline, 1 is no error")
        best = method_name(board.best)
        title = f"{len(table)} methods, {board.how}, on {len(board.means)} data sets"
        words = f"{best} ranks first; {int(level.sum()) - 1} others do not differ significantly"
        description = "Scores and ranks of the methods, with their 95 % intervals over data sets."
        set_title(figure, title, words, description)
        same = legend_entry(f"cannot be distinguished from {best}", marker="o", color=NEUTRAL)
        other = legend_entry(
            f"differs from {best}", marker="o", color=NEUTRAL, markerfacecolor="white"
        )
        interval = legend_entry("95 % interval over data sets", color=OTHERS, linestyle="-")
        legend_below(figure, [same, other, interval])
    return figure


def draw_time(board: Leaderboard) -> Figure:
    """Draw each method's score against the CPU seconds of a fit.

    A line connects the methods that no other method beats in both.
    """
    table = board.table.sort_values("seconds")
    front = table[table["score"] >= table["score"].cummax()]
    with house_style():
        figure = new_figure(9.2, 6.4)
        axes = figure.subplots()
        axes.step(front["seconds"], front["score"], where="post", color=OTHERS, linewidth=1.2)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        # Leave room for the names to the right of their markers.
        axes.set_xlim(right=3 * float(table["seconds"].max()))
        axes.set_xlabel(f"CPU seconds of a fit{', including tuning' if board.tuned else ''}")
        axes.set_ylabel("score")
        set_title(
            figure,
            f"Score against time: {len(table)} methods, {board.how}, {len(board.means)} data sets",
            _said(front),
            "Mean score over data sets against mean CPU seconds of a fit, with one marker per "
            "method. A line connects methods for which no other is faster and has a higher score.",
        )
        _draw_markers(axes, table["method"], table["seconds"], table["score"])
    return figure


def draw_faithfulness(bench: Benchmark) -> Figure:
    """Draw each method's error against the trustworthiness of its embedding in two dimensions."""
    metric, table = bench.suite.metrics[0], bench.faithfulness
    errors = (100 if is_rate(metric) else 1) * table[metric]
    first = errors.idxmin() if lower_is_better(metric) else errors.idxmax()
    most = table["trustworthiness"].idxmax()
    first, most = method_name(str(first)), method_name(str(most))
    said = f"Most accurate: {first}; most trustworthy: {most}"
    with house_style():
        figure = new_figure(9.2, 8.0)
        axes = figure.subplots()
        axes.margins(x=0.15)
        axes.set_xlabel("trustworthiness of held-out samples")
        axes.set_ylabel(metric_axis(metric))
        set_title(
            figure,
            f"{metric_name(metric).capitalize()} against trustworthiness in two dimensions",
            f"Most accurate and most trustworthy: {first}" if first == most else said,
            "Means over data sets, with one marker per method at its defaults.",
        )
        hollow = set(table.index) - bench.users
        legend_below(
            figure,
            [
                legend_entry("supervised", marker="o", color=NEUTRAL),
                legend_entry("unsupervised", marker="o", color=NEUTRAL, markerfacecolor="white"),
            ],
        )
        _draw_markers(axes, table.index, table["trustworthiness"], errors, hollow=hollow)
    return figure


def draw_years(board: Leaderboard, years: Mapping[str, int]) -> Figure:
    """Draw each method's score against the year in which it was published.

    Methods from before 1990 are at the left edge.
    """
    table = board.table[board.table["method"].isin(years)]
    year = table["method"].map(years)
    rank = stats.spearmanr(year, table["score"]).statistic
    words = {
        name: f"{method_name(name)} ({years[name]})"
        for name in table["method"]
        if years[name] < _FIRST_YEAR
    }
    with house_style():
        figure = new_figure(9.2, 8.0)
        axes = figure.subplots()
        axes.axhline(float(board.row(board.baseline)["score"]), **LARGEST)
        axes.set_xlim(_FIRST_YEAR - 3, max(int(year.max()), _FIRST_YEAR) + 6)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(f"year of publication (left edge: methods from before {_FIRST_YEAR})")
        axes.set_ylabel("score")
        set_title(
            figure,
            f"Score against year: {len(table)} methods, {board.how}, {len(board.means)} data sets",
            f"Spearman's rank correlation of year and score: {rank:.2f}",
            "Mean score over data sets against year of publication, with one marker per method.",
        )
        legend_below(figure, [legend_entry(method_name(board.baseline), **LARGEST)])
        shown = year.clip(lower=_FIRST_YEAR - 2)
        _draw_markers(axes, table["method"], shown, table["score"], words=words)
    return figure


def _draw_markers(
    axes: Axes,
    names: Iterable[str],
    x: Any,
    y: Any,
    *,
    hollow: Collection[str] = (),
    words: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Draw a named marker per method; titles, legend and limits must be final."""
    names = list(names)
    for name, style, left, low in zip(names, looks_of(names), x, y, strict=True):
        face = "white" if name in hollow else style.colour
        axes.plot([left], [low], marker=style.marker, color=style.colour, markerfacecolor=face)
    figure: Any = axes.get_figure(root=True)
    lay_out(figure)
    shown = [words.get(name, method_name(name)) for name in names]
    _name_markers(axes, list(zip(x, y, shown, strict=True)))


def draw_order(table: pd.DataFrame) -> Figure:
    """Draw a row per method and a column per criterion: its rank, as in `Benchmark.orders`."""
    texts = table.astype(int).astype(str)
    ranks = table.astype(float)
    ends = [(LEAVING_OUT, "best"), (LEAVING_OUT, "worst")]
    whole = ("", LEAVING_OUT)
    texts.insert(3, whole, texts[ends[0]] + "–" + texts[ends[1]])
    ranks.insert(3, whole, ranks[ends].mean(axis=1))
    texts, ranks = texts.drop(columns=ends), ranks.drop(columns=ends)
    spread = ranks.drop(columns=[whole]).max(axis=1) - ranks.drop(columns=[whole]).min(axis=1)
    with house_style():
        figure = new_figure(2.2 + 0.52 * ranks.shape[1], 2.0 + 0.2 * len(ranks))
        axes = figure.subplots()
        # On a dark page, these colours and the colour of the text on them stay the same.
        colours = LinearSegmentedColormap.from_list("ranks", ["#7fb0e0", "#cfe0f2"])
        places = [list(range(n)) for n in ranks.shape[::-1]]
        norm = Normalize(1, len(ranks))
        axes.pcolormesh(*places, ranks, cmap=colours, norm=norm, shading="nearest")
        axes.invert_yaxis()
        for i, row in enumerate(texts.to_numpy()):
            for j, text in enumerate(row):
                axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=ON_CELL)
        axes.xaxis.tick_top()
        heads = [" ".join(pair).strip() for pair in ranks.columns]
        axes.set_xticks(range(len(heads)), heads, rotation=40, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(len(ranks)), [method_name(str(name)) for name in ranks.index])
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        set_title(
            figure,
            "Ranks by different criteria",
            f"The highest and the lowest rank of a method differ by {spread.median():.0f} (median "
            "over methods)",
            "The rank of each method by each criterion.",
        )
    return figure


def _said(front: pd.DataFrame) -> str:
    ends = {"Score of the fastest method": front.iloc[0], "highest score": front.iloc[-1]}
    return "; ".join(
        f"{words}: {method_name(row['method'])} ({row['score']:.3f} in {row['seconds']:.2g} s)"
        for words, row in ends.items()
    )


def _name_markers(axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Write names next to markers, if possible within the panel and over no marker or name."""
    figure: Any = axes.get_figure(root=True)
    pixel = figure.dpi / 72
    centres = axes.transData.transform([point[:2] for point in points]) / pixel
    taken = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in centres]
    left_end, right_end = axes.bbox.x0 / pixel, axes.bbox.x1 / pixel
    for (x, y), (left, low, name) in zip(centres, points, strict=True):
        width = _LETTER * len(name)
        places = [(side, _LINE * up) for up in _HEIGHTS for side in (1, -1)]
        boxes = [
            Bbox.from_bounds(x + (_GAP if side > 0 else -_GAP - width), y + up - 4, width, 8)
            for side, up in places
        ]
        hidden = [
            box.count_overlaps(taken) + (box.x0 < left_end or box.x1 > right_end) for box in boxes
        ]
        best = hidden.index(min(hidden))
        taken.append(boxes[best])
        side, up = places[best]
        axes.annotate(
            name,
            (left, low),
            (side * _GAP, up),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=8,
        )


def draw_tuning(tuned: Leaderboard, default: Leaderboard) -> Figure:
    """Draw a line per method from its score at the defaults to its tuned score."""
    before = default.table.set_index("method")["score"]
    table = tuned.table[tuned.table["method"].isin(before.index)]
    ends = (before[table["method"]].to_numpy(), table["score"].to_numpy())
    names = [method_name(name) for name in table["method"]]
    with house_style():
        figure = _draw_ends(names, ends, ("at the defaults", "tuned"), "score")
        gained = int((ends[1] > ends[0]).sum())
        set_title(
            figure,
            "Score of tuned and default settings",
            f"{gained} of {len(names)} methods score higher when tuned",
            "Mean score of each method over data sets, at its default settings and with settings "
            "that are tuned on each training set.",
        )
        legend_below(figure, _looks("at the defaults", "tuned"))
    return figure


def draw_permuted(table: pd.DataFrame) -> Figure:
    """Draw a line per method from its accuracy on test samples to that on training samples."""
    means = table.groupby("method", sort=False).mean().sort_values("seen", ascending=False)
    words = ("test samples", "training samples")
    ends = (100 * means["held_out"].to_numpy(), 100 * means["seen"].to_numpy())
    names = [method_name(str(name)) for name in means.index]
    with house_style():
        figure = _draw_ends(names, ends, words, "accuracy on permuted labels (%)")
        axes = figure.axes[0]
        axes.set_xlim(0, 102)
        axes.axvline(100 * float(means["largest"].mean()), **LARGEST)
        set_title(
            figure,
            "Accuracy on permuted labels",
            description="Mean accuracy of each method over data sets, on training and on test "
            "samples. The dotted line is the accuracy of the majority-class baseline.",
        )
        largest = legend_entry("majority class", **LARGEST)
        legend_below(figure, [*_looks(*words), largest])
    return figure


def _draw_ends(
    names: Sequence[str], ends: Sequence[Any], words: Sequence[str], axis: str
) -> Figure:
    """Draw a line per name from one value to another, each end with its own marker."""
    figure = new_figure(7.4, 1.9 + 0.24 * len(names))
    axes = figure.subplots()
    places = list(range(len(names)))
    axes.hlines(places, *ends, color=NEUTRAL, linewidth=1.2, zorder=1.5)
    for values, handle in zip(ends, _looks(*words), strict=True):
        style = {"marker": handle.get_marker(), "color": handle.get_color()}
        axes.plot(values, places, linestyle="", label=handle.get_label(), **style)
    name_lines(axes, names)
    axes.set_xlabel(axis)
    return figure


def _looks(*words: str) -> list[Any]:
    styles = (look(1), look(0))
    return [
        legend_entry(text, marker=style.marker, color=style.colour)
        for text, style in zip(words, styles, strict=True)
    ]
