"""The tables that a suite's charts show, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from ddr_cli.charts import style
from ddr_cli.charts.curves import REFERENCE, curves
from ddr_cli.charts.dots import dots, two_ends
from ddr_cli.charts.matrix import matrix
from ddr_cli.charts.points import points
from ddr_cli.charts.style import Words, legend_entry
from ddr_cli.comparison.across_datasets import EQUIVALENCE, gains
from ddr_cli.comparison.names import (
    amount_text,
    is_rate,
    lower_is_better,
    method_name,
    metric_axis,
    metric_name,
    number,
)
from ddr_cli.comparison.summary import MEAN_LEVEL
from ddr_cli.evaluation.statistics import mean_intervals
from ddr_cli.suite.benchmark import LEAVING_OUT, Benchmark
from ddr_cli.suite.leaderboard import Leaderboard, ranks_text

_FIRST_YEAR = 1990
_SUPERVISED, _UNSUPERVISED = style.look(0).colour, style.look(1).colour
_DOT: dict[str, Any] = {"marker": "o", "color": style.NEUTRAL}
_HOLLOW = _DOT | {"markerfacecolor": "white"}


# -- a value per method ---------------------------------------------------------------------------


def draw_scores(bench: Benchmark, board: Leaderboard) -> Figure:
    """Draw a line per method, by rank: its score, and the interval of its distance to the best.

    Filled markers on a shaded band: the method cannot be distinguished from the first (Wilcoxon's p
    with Holm's correction is 0.05 or more).
    """
    table, level = board.table, board.level()
    names = list(table["method"])
    apart = board.scores[names].sub(board.scores[board.best], axis=0)
    best = float(board.row(board.best)["score"])
    low, high = (best + end for end in mean_intervals(apart.to_numpy(), MEAN_LEVEL))
    other = table["method"] != board.best
    uses_labels = table["method"].isin(bench.users)
    rows = pd.DataFrame(
        {
            "line": table["method"].map(method_name),
            "value": table["score"],
            "low": np.where(other, low, np.nan),
            "high": np.where(other, high, np.nan),
            "colour": np.where(uses_labels, _SUPERVISED, _UNSUPERVISED),
            "hollow": ~level,
            "shaded": level,
            "note": [
                f"{row['place']} ({ranks_text(row) or '–'})" for row in table.to_dict("records")
            ],
        }
    )
    first = method_name(board.best)
    words = Words(
        f"{len(table)} methods, {board.how}, on {len(board.means)} data sets",
        f"{first} ranks first; {int(level.sum()) - 1} others do not differ significantly",
        "Scores and ranks of the methods, with 95 % intervals over data sets.",
        "score: 0 is the majority-class baseline, 1 is no error",
        "rank (95 %)",
        [
            legend_entry("uses labels", marker="o", color=_SUPERVISED),
            legend_entry("ignores labels", marker="o", color=_UNSUPERVISED),
            legend_entry(f"cannot be distinguished from {first}", **_DOT),
            legend_entry(f"differs from {first}", **_HOLLOW),
            legend_entry(f"95 % interval of the distance to {first}", color=style.NEUTRAL, ls="-"),
        ],
    )
    return dots(rows, words, reference=best)


def draw_tuning(tuned: Leaderboard, default: Leaderboard) -> Figure:
    """Draw a line per method from its score at the defaults to its tuned score."""
    rows = pd.DataFrame(
        {
            "default": default.table.set_index("method")["score"],
            "tuned": tuned.table.set_index("method")["score"],
        }
    ).dropna()
    rows = rows.loc[[name for name in tuned.table["method"] if name in rows.index]]
    gained = int((rows["tuned"] > rows["default"]).sum())
    words = Words(
        "Score of tuned and default settings",
        f"{gained} of {len(rows)} methods score higher when tuned",
        "Mean score of each method over data sets, at its default settings and with settings that "
        "are tuned on each training set.",
        "score",
    )
    rows["line"] = rows.index.map(method_name)
    return two_ends(rows, {"default": "at the defaults", "tuned": "tuned"}, words)


def draw_permuted(table: pd.DataFrame) -> Figure:
    """Draw a line per method from its accuracy on test samples to that on training samples."""
    rows = 100 * table.groupby("method", sort=False).mean().sort_values("seen", ascending=False)
    words = Words(
        "Accuracy on permuted labels",
        "",
        "Mean accuracy of each method over data sets, on training and on test samples. The dotted "
        "line is the accuracy of the majority-class baseline.",
        "accuracy on permuted labels (%)",
    )
    ends = {"held_out": "test samples", "seen": "training samples"}
    lines = rows.assign(line=rows.index.map(method_name))
    return two_ends(lines, ends, words, float(rows["largest"].mean()))


# -- two values per method ------------------------------------------------------------------------


def _markers(names: Sequence[str], x: Any, y: Any) -> pd.DataFrame:
    """Return a row per method with its name and look."""
    looks = pd.DataFrame([vars(look) for look in style.looks_of(list(names))])
    shown = [method_name(name) for name in names]
    return looks.assign(method=list(names), name=shown, x=list(x), y=list(y))


def draw_time(board: Leaderboard) -> Figure:
    """Draw each method's score against the CPU seconds of a fit.

    A line connects the methods that no other method beats in both.
    """
    table = board.table.sort_values("seconds")
    rows = _markers(list(table["method"]), table["seconds"], table["score"])
    rows["front"] = rows["y"] >= rows["y"].cummax()
    front = rows[rows["front"]]
    fastest, highest = (
        f"{row['name']} ({row['y']:.3f} in {row['x']:.2g} s)"
        for row in (front.iloc[0], front.iloc[-1])
    )
    words = Words(
        f"Score against time: {len(table)} methods, {board.how}, {len(board.means)} data sets",
        f"Score of the fastest method: {fastest}; highest score: {highest}",
        "Mean score over data sets against mean CPU seconds of a fit, with one marker per method. "
        "A line connects methods for which no other is faster and has a higher score.",
        f"CPU seconds of a fit{', including tuning' if board.tuned else ''}",
        "score",
    )
    return points(rows, words, log=True)


def draw_faithfulness(bench: Benchmark) -> Figure:
    """Draw each method's error against the trustworthiness of its embedding in two dimensions."""
    metric, table = bench.suite.metrics[0], bench.faithfulness
    errors = (100 if is_rate(metric) else 1) * table[metric]
    rows = _markers(list(table.index), table["trustworthiness"], errors)
    rows["hollow"] = ~rows["method"].isin(bench.users)
    first = method_name(str(errors.idxmin() if lower_is_better(metric) else errors.idxmax()))
    most = method_name(str(table["trustworthiness"].idxmax()))
    words = Words(
        f"{metric_name(metric).capitalize()} against trustworthiness in two dimensions",
        f"Most accurate and most trustworthy: {first}"
        if first == most
        else f"Most accurate: {first}; most trustworthy: {most}",
        "Means over data sets, with one marker per method at its defaults.",
        "trustworthiness of held-out samples",
        metric_axis(metric),
        [legend_entry("supervised", **_DOT), legend_entry("unsupervised", **_HOLLOW)],
    )
    return points(rows, words)


def draw_years(board: Leaderboard, years: Mapping[str, int]) -> Figure:
    """Draw each method's score against the year in which it was published.

    Methods from before 1990 are at the left edge.
    """
    table = board.table[board.table["method"].isin(years)]
    year = table["method"].map(years)
    rank = stats.spearmanr(year, table["score"]).statistic
    shown = year.clip(lower=_FIRST_YEAR - 2)
    rows = _markers(list(table["method"]), shown, table["score"])
    old = rows["method"].map(years) < _FIRST_YEAR
    dated = rows["name"] + rows["method"].map(years).map(" ({})".format)
    rows["name"] = rows["name"].where(~old, dated)
    baseline = method_name(board.baseline)
    words = Words(
        f"Score against year: {len(table)} methods, {board.how}, {len(board.means)} data sets",
        f"Spearman's rank correlation of year and score: {rank:.2f}",
        "Mean score over data sets against year of publication, with one marker per method.",
        f"year of publication (left edge: methods from before {_FIRST_YEAR})",
        "score",
        [legend_entry(baseline, **style.LARGEST)],
    )
    return points(rows, words, level=float(board.row(board.baseline)["score"]))


def draw_order(table: pd.DataFrame) -> Figure:
    """Draw a row per method and a column per criterion: its rank, as in `Benchmark.orders`."""
    ranks: Any = table.astype(float)
    ranges = ranks.pop((LEAVING_OUT, "best")), ranks.pop((LEAVING_OUT, "worst"))
    spread = (ranks.max(axis=1) - ranks.min(axis=1)).median()
    texts = ranks.astype(int).astype(str)
    texts.insert(
        3,
        ("", LEAVING_OUT),
        ["–".join(f"{end:.0f}" for end in ends) for ends in zip(*ranges, strict=True)],
    )
    ranks.insert(3, ("", LEAVING_OUT), sum(ranges) / 2)
    heads = [" ".join(pair).strip() for pair in ranks.columns]
    cells = [
        {"row": method_name(str(name)), "column": head, "value": -value, "text": text}
        for name, values, own in zip(ranks.index, ranks.to_numpy(), texts.to_numpy(), strict=True)
        for head, value, text in zip(heads, values, own, strict=True)
    ]
    words = Words(
        "Ranks by different criteria",
        f"The highest and the lowest rank of a method differ by {spread:.0f} (median over methods)",
        "The rank of each method by each criterion.",
    )
    return matrix(pd.DataFrame(cells), words, cell=(0.52, 0.2))


# -- a curve per method ---------------------------------------------------------------------------


def draw_labels(bench: Benchmark) -> Figure:
    """Draw a panel per method: the mean over data sets against the labels of each class."""
    table, metric = bench.by_labels, bench.suite.metrics[0]
    means = table.groupby(level="method", sort=False).mean()
    first, last = means.columns[[0, -1]]
    ends = [number(float(means[n].mean()), metric) for n in (first, last)]
    return _draw_panels(
        bench,
        means,
        f"{metric_name(metric).capitalize()} against number of labels",
        f"{first} labels per class: {ends[0]}; {last} labels per class: {ends[1]} (means over "
        f"{len(means)} methods and {_n_datasets(table)} data sets)",
        "labelled training samples per class",
    )


def draw_sizes(bench: Benchmark, column: str = "") -> Figure:
    """Draw a panel per method: the mean over data sets against the number of training samples.

    It is the mean of the first metric, or of another `column` of `Benchmark.by_size`, over the data
    sets that have all sizes. The curve of a method ends where it fails on one of them.
    """
    metric = bench.suite.metrics[0]
    table: Any = bench.by_size[[column or metric, "failed"]].unstack("train")
    table = table[table.notna().all(axis=1).groupby(level="dataset").transform("all")]
    by_method = table.groupby(level="method", sort=False)
    failed = by_method.max()["failed"] > 0
    means = by_method.mean()[column or metric].where(~failed.cummax(axis=1))
    short = [method_name(name) for name in failed.index if failed.loc[name].any()]
    which = short[0] if len(short) == 1 else f"{len(short)} methods"
    finding = f"A cross: the method exceeds the time or memory limit with more samples ({which})"
    return _draw_panels(
        bench,
        means,
        f"{(column or metric_name(metric)).capitalize()} against training samples, mean over "
        f"{_n_datasets(table)} data sets",
        finding if short else "",
        "training samples",
        "CPU seconds of a fit" if column == "seconds" else "",
    )


def draw_memory(bench: Benchmark) -> Figure | None:
    """Draw a panel per measured method: the memory of a fit against training samples."""
    found = {
        name: cost.memory for name in bench.order if (cost := bench.growth_of(name)) is not None
    }
    if not found:
        return None
    # Sizes that were measured for only one of several methods are left out.
    table = pd.DataFrame(found).T.dropna(axis="columns", thresh=min(2, len(found)))
    return _draw_panels(
        bench,
        table.sort_index(axis="columns"),
        "Memory of a fit against training samples, simulated data",
        "A cross: a larger fit takes too much time or memory",
        "training samples",
        "MB",
    )


def draw_dimensions(bench: Benchmark) -> Figure:
    """Draw a panel per method: the mean over data sets against its dimensions."""
    means, whole = bench.dimensions()
    metric = bench.suite.metrics[0]
    own = means[whole.any(axis=1)]
    best = own.min(axis=1) if lower_is_better(metric) else own.max(axis=1)
    behind = own.apply(lambda column: gains(best, column, metric))
    last, near = means.columns[-1], (behind <= EQUIVALENCE).sum()
    their = "their lowest value" if lower_is_better(metric) else "their highest value"
    finding = f"{(behind[last] == 0).sum()} of {len(own)} methods have {their} at {last} dimensions"
    if most := [n for n in means.columns[:-1] if 2 * near[n] >= len(own)]:
        finding += (
            f"; at {most[0]} dimensions, {near[most[0]]} of {len(own)} are within "
            f"{amount_text(EQUIVALENCE, metric)} of {their}"
        )
    return _draw_panels(
        bench,
        means,
        f"{metric_name(metric).capitalize()} against dimension, mean over "
        f"{_n_datasets(bench.by_dimension)} data sets",
        finding,
        "number of dimensions",
        whole=whole,
    )


def _n_datasets(table: pd.DataFrame) -> int:
    return table.index.get_level_values("dataset").nunique()


def _draw_panels(
    bench: Benchmark,
    table: pd.DataFrame,
    title: str,
    finding: str,
    x: str,
    y: str = "",
    *,
    whole: pd.DataFrame | None = None,
) -> Figure:
    """Draw a panel per row of a table, in the order of the leaderboard, with the others in grey.

    The values are those of the suite's first metric if no axis `y` is named. Markers are hollow
    where a method is not `whole`; a method that never is has none. A curve that ends early ends
    with a cross.
    """
    metric, board = bench.suite.metrics[0], bench.board()
    order = [*bench.order, *table.index]
    names = sorted(table.index, key=order.index)
    ends = table.columns[-1]
    parts = []
    for name, look in zip(names, style.looks_of(names), strict=True):
        own = table.loc[name].dropna()
        is_whole = (
            np.full(len(own), True) if whole is None else whole.loc[name, own.index].to_numpy()
        )
        parts.append(
            pd.DataFrame(
                {
                    "panel": method_name(name),
                    "curve": method_name(name),
                    "x": own.index.astype(float),
                    "value": (100.0 if is_rate(metric) and not y else 1.0) * own.to_numpy(),
                    "colour": look.colour,
                    "marker": "o" if np.any(is_whole) else "",
                    "hollow": ~is_whole,
                    "cross": (own.index == own.index[-1]) & (own.index[-1] != ends),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    own_marker = {"marker": "o", "color": "black"}
    legend = [legend_entry("method of the panel", linestyle="-", **own_marker)]
    if rows["cross"].any():
        legend.append(legend_entry("no result at larger values", marker="x", color="black"))
    if (rows["hollow"] & (rows["marker"] != "")).any():
        text = "mean with a smaller n_components"
        legend.append(legend_entry(text, markerfacecolor="white", **own_marker))
    legend.append(legend_entry("other methods", color=style.OTHERS, linestyle="-"))
    baseline = board.baseline if board else ""
    if baseline in names:
        legend.append(legend_entry(method_name(baseline), **REFERENCE))
    words = Words(
        title,
        finding,
        "One panel per curve, with all other curves in grey.",
        x,
        y or metric_axis(metric),
        legend,
        rate=is_rate(metric) and not y,
        lower=bool(y) or lower_is_better(metric),
    )
    places = map(float, table.columns)
    ticks = {n: f"{n / 1000:g}k" if n >= 1000 else f"{n:g}" for n in places}
    shown = method_name(baseline)
    return curves(rows, words, log=True, ticks=ticks, others=True, reference=shown)
