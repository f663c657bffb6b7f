"""The files of a run that are derived from its journal: its summary and its figures."""

from __future__ import annotations

from pathlib import Path

from ddr_cli.comparison.against_controls import against_controls
from ddr_cli.comparison.summary import Summary
from ddr_cli.core.atomic import atomic_write, clear_messages, refuse_link
from ddr_cli.figures import draw
from ddr_cli.figures.dot_plot import draw_shuffled_labels
from ddr_cli.figures.picture import NO_NOTES, Notes
from ddr_cli.figures.style import rendered
from ddr_cli.report.table import Table

_OWN = ("report", "tables", "figures")


def write_run(summary: Summary, notes: Notes = NO_NOTES) -> list[Path]:
    """Derive ``summary.csv``, ``figure.svg`` and ``figure.png`` of a run, complete or partial.

    A run with shuffled labels also has ``shuffled_labels.svg`` and ``.png``. The figure shows the
    papers' `notes` on the run.
    """
    folder = summary.run.folder
    svg, png = rendered(draw(summary, notes))
    contents: dict[str, str | bytes] = {
        "summary.csv": Table(summary.rows).csv(),
        "figure.svg": svg,
        "figure.png": png,
    }
    found = against_controls(summary)
    if found is not None and {"seen", "held_out"} <= set(found.rows):
        svg, png = rendered(draw_shuffled_labels(summary.run, found))
        contents |= {"shuffled_labels.svg": svg, "shuffled_labels.png": png}
    return [write_file(folder / name, content) for name, content in contents.items()]


def figure_of(summary: Summary, ending: str) -> Path:
    """Return the path of a run's figure."""
    return summary.run.folder / f"figure{ending}"


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file that is derived from journals, but not through a link."""
    # A results folder that came from someone else may hold links to other places.
    for folder in (path.parent, *(each for each in path.parents if each.name in _OWN)):
        refuse_link(folder)
    with clear_messages(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
    return path
