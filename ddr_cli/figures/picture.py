"""What every drawing of a run shares: its methods and their looks, scale, words and legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ddr_cli.comparison.names import family_name, is_rate, lower_is_better, method_name, metric_axis
from ddr_cli.comparison.summary import Summary
from ddr_cli.figures.style import NEUTRAL, PAPER_COLOUR, PAPER_FILL, Look, look
from ddr_cli.verdicts.printed import QuotedNumber

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ddr_cli.comparison.runs import Run

Method = tuple[str, str]
"""The display labels of a reducer and a classifier."""

# From this ratio between the largest and the smallest mean on, a linear axis would press the
# interesting end flat.
_STEEP_FROM = 2.5


class Picture:
    """One metric of a run's summary, ready to be drawn.

    `rows` are the summary's rows of the metric, rates in percent; `methods` are in the order of the
    spec; `families` are those of the splits, the predefined one first; quoted numbers that belong
    to other rows are left out.
    """

    def __init__(self, summary: Summary, metric: str, quoted: Sequence[QuotedNumber]) -> None:
        self.run = summary.run
        self.metric = metric
        self.scale = 100.0 if is_rate(metric) else 1.0
        rows = summary.rows[summary.rows["metric"] == metric]
        self.rows = rows.assign(
            **{name: rows[name].astype(float) * self.scale for name in ("mean", "low", "high")}
        )
        self.quoted = [number for number in quoted if number.row in rows.index]
        pairs = rows[["reducer_label", "classifier_label"]].drop_duplicates()
        self.methods: list[Method] = list(pairs.itertuples(index=False, name=None))
        self.families: list[str] = sorted(set(rows["split"]), key=lambda name: name != "predefined")

    def of(self, method: Method, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of one method."""
        return rows[(rows["reducer_label"] == method[0]) & (rows["classifier_label"] == method[1])]

    def row(self, index: int) -> pd.Series[Any]:
        """Return the row with an index label."""
        return cast("pd.Series[Any]", self.rows.loc[index])

    def method_of(self, quoted: QuotedNumber) -> Method:
        """Return the method that a quoted number is about."""
        row = self.row(quoted.row)
        return str(row["reducer_label"]), str(row["classifier_label"])

    def look(self, method: Method) -> Look:
        """Return how a method is drawn."""
        return look(self.methods.index(method))

    def name(self, method: Method) -> str:
        """Return a method's name, without the reducer or the evaluator where all have the same."""
        if len({name for name, _ in self.methods}) == 1:
            return method[1]
        return method[0] if self.evaluator else ", ".join(method)

    @property
    def evaluator(self) -> str:
        """The one classifier or measure of several reducers, empty where there are more."""
        reducers, evaluators = ({method[place] for method in self.methods} for place in (0, 1))
        return next(iter(evaluators)) if len(evaluators) == 1 and len(reducers) > 1 else ""

    @property
    def axis(self) -> str:
        """The label of an axis of values, which names the one classifier of several reducers."""
        measured = {method_name(each.label) for each in self.run.spec.measures}
        return metric_axis(self.metric, "" if self.evaluator in measured else self.evaluator)

    def family_title(self, family: str) -> str:
        """Return what is shown of a family of splits: ``Mean over 50 re-splits``."""
        own = self.rows[self.rows["split"] == family]
        n, planned = int(own["n"].max()), int(own["planned"].max())
        if family == "predefined":
            return "Predefined split (n = 1)"
        words = family_name(family, planned)
        if family == "whole" and planned == 1:
            return words.capitalize()
        return f"Mean over {words}" if n == planned else f"Mean over {n} of {words}"

    def shown_values(self) -> pd.Series[Any]:
        """Return everything that the value axis must hold."""
        quoted = pd.Series([number.value * self.scale for number in self.quoted], dtype=float)
        drawn = [self.rows[name] for name in ("mean", "low", "high")]
        shown: pd.Series[Any] = pd.concat([*drawn, quoted]).dropna()
        return shown

    def finish(self, figure: Figure, handles: Sequence[Any] = ()) -> None:
        """Add the title, how far an unfinished run is, and a legend below that hides nothing."""
        reducers = {name for name, _ in self.methods}
        extra = next(iter(reducers)) if len(reducers) == 1 else ""
        title = run_title(self.run, figure.get_figwidth(), extra)
        figure.suptitle(title, fontsize=11, weight="bold")
        legend_below(figure, handles)

    def quoted_handle(self) -> list[Any]:
        """Return the legend's entry for quoted numbers, if there are any."""
        if not self.quoted:
            return []
        return [
            Line2D(
                [],
                [],
                linestyle="",
                marker="*",
                markersize=11,
                color=PAPER_FILL,
                markeredgecolor=PAPER_COLOUR,
                label="number in the paper",
            )
        ]

    def interval_handle(self) -> list[Any]:
        """Return the legend's entry for intervals, if there are any."""
        bands = self.rows.dropna(subset=["low"])
        if bands.empty:
            return []
        return [Patch(facecolor=NEUTRAL, alpha=0.35, label=str(bands["interval"].iloc[0]))]


def run_title(run: Run, width: float, method: str = "") -> str:
    """Return the title of a run's figure, in lines that fit its width in inches.

    It names the method, if one is given and the title doesn't, and says how far an unfinished run
    is.
    """
    title = run.title
    if method and method not in title:
        title += f" ({method})"
    if not run.is_complete or run.failed:
        title += f" [{run.progress}]"
    return "\n".join(textwrap.wrap(title, int(width * 10)))


def legend_below(figure: Figure, handles: Sequence[Any]) -> None:
    """Add a legend below a figure, where it hides nothing, in as few lines as fit."""
    if not handles:
        return
    # A character's width in inches, then the sign and the gap between columns.
    widths = [0.068 * len(str(handle.get_label())) + 0.55 for handle in handles]
    room = figure.get_figwidth()
    lines = next(
        lines
        for lines in range(1, len(widths) + 1)
        if sum(max(widths[i : i + lines]) for i in range(0, len(widths), lines)) < room
        or lines == len(widths)
    )
    # Columns are filled one after the other.
    figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // lines))


def is_steep(means: pd.Series[Any]) -> bool:
    """Tell whether values differ so much that they need a logarithmic axis."""
    low, high = float(means.min()), float(means.max())
    return low > 0 and high / low > _STEEP_FROM


def value_axis(axes: Axes, means: pd.Series[Any], which: str, metric: str) -> None:
    """Scale the axis of a metric's values, logarithmically where errors are steep."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    if not (is_steep(means) and lower_is_better(metric)):
        axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
        return
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    ratio = float(means.max() / means.min())
    # The wider the range, the fewer ticks per decade.
    if ratio < 8:
        ticks: tuple[float, ...] = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    else:
        ticks = (1, 1.5, 2, 3, 5, 7) if ratio < 30 else (1, 2, 5)
    axis.set_major_locator(LogLocator(base=10, subs=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
