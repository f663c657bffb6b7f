"""Heat maps: the mean over two swept parameters, for those with many values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.comparison.names import parameter_name, plain
from ddr_cli.figures.picture import Picture
from ddr_cli.figures.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_heat_maps(picture: Picture, x: str, second: str) -> Figure:
    """Draw a heat map per method, all on one colour scale, over the last family of splits."""
    family = picture.families[-1]
    rows = picture.rows[picture.rows["split"] == family].dropna(subset=[x, second])
    methods = [method for method in picture.methods if len(picture.of(method, rows))]
    figure = new_figure(1.4 + 3.6 * len(methods), 4.0)
    grid = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    low, high = rows["mean"].min(), rows["mean"].max()
    for axes, method in zip(grid, methods, strict=True):
        own = picture.of(method, rows)
        table = own.pivot_table(index=second, columns=x, values="mean", aggfunc="min")
        image = axes.imshow(
            table.to_numpy(dtype=float),
            origin="lower",
            aspect="auto",
            cmap="cividis",
            vmin=low,
            vmax=high,
        )
        axes.grid(visible=False)
        axes.set_title(f"{picture.name(method)} · {picture.family_title(family)}", loc="left")
        axes.set_xlabel(parameter_name(x))
        axes.set_xticks(
            range(table.shape[1]), [plain(float(value)) for value in table.columns], rotation=90
        )
        axes.set_yticks(range(table.shape[0]), [plain(float(value)) for value in table.index])
    grid[0].set_ylabel(parameter_name(second))
    figure.colorbar(image, ax=list(grid), label=picture.axis)
    picture.finish(figure)
    return figure
