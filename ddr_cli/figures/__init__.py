"""Figures, one kind of chart per module.

The names are imported on first use, because Matplotlib takes long to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.figures.dot_plot import draw_shuffled_labels as draw_shuffled_labels
    from ddr_cli.figures.run_figure import draw as draw
    from ddr_cli.figures.style import rendered as rendered
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)
