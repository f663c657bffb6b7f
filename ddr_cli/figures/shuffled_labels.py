"""What methods make of shuffled labels: the agreement that is seen beside the one held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.comparison.controls import AgainstControls, largest_class_score
from ddr_cli.comparison.runs import Run
from ddr_cli.figures.style import (
    NEUTRAL,
    house_style,
    in_lines,
    legend_below,
    legend_entry,
    look,
    new_figure,
    run_title,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEEN, _HELD_OUT = "on the points it was fitted to", "held out"


def draw_shuffled_labels(run: Run, found: AgainstControls) -> Figure:
    """Draw a line per method from the held-out share of right answers to the one that is seen."""
    rows = found.rows.dropna(subset=["seen", "held_out"])
    with house_style():
        figure = new_figure(7.4, 1.7 + 0.42 * len(rows))
        axes = figure.subplots()
        seen, held_out = look(0), look(1)
        for place, row in enumerate(rows.to_dict("records")):
            ends = [100 * row["held_out"], 100 * row["seen"]]
            axes.plot(ends, [place, place], color=NEUTRAL, linewidth=1.2, zorder=1.5)
            for value, style in zip(ends, (held_out, seen), strict=True):
                axes.plot([value], [place], color=style.colour, marker=style.marker, linestyle="")
        names = [
            ", ".join(str(part) for part in parts if part)
            for parts in rows[["reducer", "classifier", "setting"]].itertuples(index=False)
        ]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, 102)
        axes.set_xlabel("agreement with shuffled labels (%)")
        handles = [
            legend_entry(text, marker=style.marker, color=style.colour, linestyle="")
            for text, style in ((_SEEN, seen), (_HELD_OUT, held_out))
        ]
        share = largest_class_score(run.spec, "accuracy")
        if share is not None:
            axes.axvline(100 * share, color=NEUTRAL, linestyle="--", linewidth=0.9)
            handles.append(legend_entry("the largest class", color=NEUTRAL, linestyle="--"))
        title = in_lines(run_title(run), figure.get_figwidth())
        figure.suptitle(title, fontsize=11, weight="bold")
        legend_below(figure, handles)
        return figure
