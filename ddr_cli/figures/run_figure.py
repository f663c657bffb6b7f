"""Selects the kind of chart for a run."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ddr_cli.comparison.summary import AXES, Summary, swept_columns
from ddr_cli.figures.curves import draw_curves, draw_heat_maps
from ddr_cli.figures.dot_plot import draw_category_plot, draw_dot_plot
from ddr_cli.figures.embeddings import draw_embeddings, drawn_embeddings, scores_note
from ddr_cli.figures.notes import NO_NOTES, Notes
from ddr_cli.figures.picture import Picture
from ddr_cli.figures.style import house_style, new_figure, with_progress

_MOST_PANELS = 4
_UNORDERED = "random_state"


def draw(summary: Summary, notes: Notes = NO_NOTES) -> Figure:
    """Draw the metric that a run's spec plots, with the numbers of the papers.

    A run with stored embeddings shows these. One swept parameter, numbers of labels, or sizes of
    the training set give curves. Two parameters give a panel per value of the second, or heat maps
    if it has many values. A parameter whose values are words gives a line for each word. Random
    states give a dot each on a method's line. Otherwise there is a dot per method, for its best
    setting.
    """
    embeddings = drawn_embeddings(summary, notes.marks)
    picture = Picture(summary, summary.run.spec.plot.y, notes)
    with house_style():
        if embeddings:
            finding = with_progress(summary.run, picture.best())
            return draw_embeddings(summary.run.title, finding, embeddings, scores_note(summary))
        if picture.rows.empty:
            figure = new_figure(6.4, 1.6)
            picture.finish(figure)
            return figure
        words = _words_of(summary, picture.rows)
        if words is not None:
            return draw_category_plot(picture, words)
        x, second = _axes_of(summary, picture.rows)
        if x is not None and x.endswith(_UNORDERED) and second is None:
            return draw_dot_plot(picture, every=x)
        if x is None and summary.run.spec.plot.x in AXES:
            # A figure has fewer axes than there are swept parameters, so each method's best setting
            # at each value of x is drawn.
            x = summary.run.spec.plot.x
            picture.keep_best_at(x)
        if x is None:
            return draw_dot_plot(picture)
        if second is None or picture.rows[second].nunique() <= _MOST_PANELS:
            return draw_curves(picture, x, second)
        return draw_heat_maps(picture, x, second)


def _words_of(summary: Summary, rows: pd.DataFrame) -> str | None:
    """Return the only swept parameter if its values are words, which have no order."""
    swept = [name for name in swept_columns(summary.run) if name in rows]
    is_one = len(swept) == 1 and all(isinstance(value, str) for value in rows[swept[0]])
    return swept[0] if is_one else None


def _axes_of(summary: Summary, rows: pd.DataFrame) -> tuple[str | None, str | None]:
    """Return the parameter on the x axis and the parameter that distinguishes the panels."""
    swept = [
        name
        for name in swept_columns(summary.run)
        if name in rows and pd.api.types.is_numeric_dtype(rows[name]) and rows[name].nunique() > 1
    ]
    swept.sort(key=lambda name: name != summary.run.spec.plot.x)
    if not swept or len(swept) > 2:
        return None, None
    return swept[0], swept[1] if len(swept) == 2 else None
