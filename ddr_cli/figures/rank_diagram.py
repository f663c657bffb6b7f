"""Critical-difference diagrams: average ranks, and which of them can't be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ddr_cli.comparison.methods import FEWEST_RANKED, Comparison
from ddr_cli.comparison.names import lower_is_better, metric_axis
from ddr_cli.core.errors import InputError
from ddr_cli.figures.style import house_style, look, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_ranks(comparison: Comparison) -> Figure:
    """Draw a critical-difference diagram; it needs three runs and methods, and scikit-posthocs."""
    ranks = comparison.ranks
    if ranks is None or min(ranks.means.shape) < FEWEST_RANKED:
        raise InputError(
            "A critical-difference diagram needs three runs and three methods in common or more."
        )
    try:
        import scikit_posthocs as posthocs
    except ImportError:
        raise InputError(
            "The diagram needs scikit-posthocs: pip install 'ddr[stats]', then run this again."
        ) from None

    sign = 1 if lower_is_better(comparison.metric) else -1
    values = posthocs.posthoc_nemenyi_friedman(sign * ranks.means.to_numpy())
    table = pd.DataFrame(
        np.asarray(values, dtype=float), index=ranks.means.columns, columns=ranks.means.columns
    )
    with house_style():
        figure = new_figure(7.0, 1.2 + 0.28 * len(ranks.average))
        axes = figure.subplots()
        axes.grid(visible=False)
        posthocs.critical_difference_diagram(
            ranks.average,
            table,
            ax=axes,
            label_props={"fontsize": 9},
            text_h_margin=0.03,
            color_palette={
                name: look(place).colour for place, name in enumerate(ranks.average.index)
            },
        )
        figure.suptitle(
            f"Average rank over {len(ranks.means)} data sets, {metric_axis(comparison.metric)}: "
            "1 is best",
            fontsize=10,
        )
    return figure
