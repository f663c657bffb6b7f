"""The files of a run that are derived from its journal: its summary and its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.comparison.against_controls import against_controls
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import Summary
from ddr_cli.core.atomic import as_input_errors, atomic_open, is_inside, refuse_link
from ddr_cli.core.digests import code_digest, digest
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
from ddr_cli.report.notes import NO_NOTES, Notes
from ddr_cli.rows.embeddings import EMBEDDINGS
from ddr_cli.rows.log import TRIAL_FILES
from ddr_cli.rows.manifest import MANIFEST
from ddr_cli.show.csv import csv
from ddr_cli.show.page import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OWN = ("report", "tables", "figures")
_SUITE = "suite_"
_LIBRARIES = ("matplotlib", "numpy", "pandas", "pillow")


def write_run(
    summary: Summary, notes: Notes = NO_NOTES, *, unchanged: list[Path] | None = None
) -> list[Path]:
    """Derive ``summary.csv``, ``figure.svg`` and ``figure.png`` of a run, complete or partial.

    A run with shuffled labels also has ``shuffled_labels.svg`` and ``.png``. The figure shows the
    papers' `notes` on the run. Figures that are up to date are added to `unchanged`.
    """
    folder = summary.run.folder
    source = [repr(notes).encode(), *_contents_of(summary.run)]

    def drawn() -> Figure:
        from ddr_cli.report.run_chart import draw

        return draw(summary, notes)

    def table() -> Path:
        return write_file(folder / "summary.csv", csv(Grid(summary.rows)))

    files = write_figure(folder / "figure", source, drawn, table=table, unchanged=unchanged)
    found = against_controls(summary)
    if found is not None and {"seen", "held_out"} <= set(found.rows):

        def compared() -> Figure:
            from ddr_cli.report.run_chart import draw_shuffled_labels

            return draw_shuffled_labels(summary.run, found)

        stem = folder / "shuffled_labels"
        files += write_figure(stem, source, compared, unchanged=unchanged)
    return files


def _contents_of(run: Run) -> Iterator[bytes]:
    """Yield the content of the files that a run's figures are drawn from."""
    names = (MANIFEST, *TRIAL_FILES)
    embeddings = sorted((run.folder / EMBEDDINGS).glob("*.json"))
    for path in (*(run.folder / name for name in names), *embeddings):
        yield path.read_bytes() if path.is_file() else b""
    with suppress(InputError):
        yield repr(load_card(run.spec.dataset.name)).encode()


def write_figure(
    stem: Path,
    source: Iterable[bytes],
    drawn: Callable[[], Figure],
    *,
    table: Callable[[], Path] | None = None,
    unchanged: list[Path] | None = None,
) -> list[Path]:
    """Draw ``<stem>.svg`` and ``<stem>.png``, after their `table` in the same folder, if any.

    If `source` has not changed, no file is written, and the SVG is added to `unchanged`.
    """
    svg, png = (stem.with_suffix(ending).name for ending in (".svg", ".png"))

    def pictures() -> Mapping[str, bytes]:
        from ddr_cli.charts.style import rendered

        also = [] if table is None else [table()]
        made = dict(zip((svg, png), rendered(drawn()), strict=True))
        return made | {path.name: path.read_bytes() for path in also}

    files, is_made = write_derived(stem.parent, svg, source, pictures)
    if not is_made and unchanged is not None:
        unchanged += files[:1]
    return files


def write_derived(
    folder: Path, first: str, source: Iterable[bytes], make: Callable[[], Mapping[str, bytes]]
) -> tuple[list[Path], bool]:
    """Make files unless they are up to date; return them, and whether they were made.

    The `first`, an SVG or HTML file, ends with a comment that contains the digests of the `source`
    together with this code, of the rest of the file, and of the other files. An edited file is
    therefore made again.
    """
    of_source = digest(code_digest().encode(), *_versions(), *source)

    def last_line(contents: Mapping[str, bytes]) -> bytes:
        known = (f"{name}={digest(content)}" for name, content in contents.items())
        return f"<!-- from {of_source} {' '.join(known)} -->\n".encode()

    with suppress(OSError):
        there = (folder / first).read_bytes()
        start = there.rfind(b"<!-- from ")
        names = [word.rpartition("=")[0] for word in there[start:].decode().split()[4:-1]]
        if start >= 0 and all(map(is_inside, names)):
            others = {name: (folder / name).read_bytes() for name in names}
            if there[start:] == last_line({first: there[:start]} | others):
                return [folder / name for name in (first, *names)], False
    made = make()
    own = {first: made[first], **made}
    return [
        write_file(folder / name, content + (last_line(own) if name == first else b""))
        for name, content in own.items()
    ], True


@cache
def _versions() -> list[bytes]:
    return [version(name).encode() for name in _LIBRARIES]


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file that is derived from journals if its content differs; reject links."""
    # A results folder from someone else may contain links to other places.
    own = (each for each in path.parents if each.name in _OWN or each.name.startswith(_SUITE))
    for folder in (path.parent, *own):
        refuse_link(folder)
    data = content.encode() if isinstance(content, str) else content
    with as_input_errors(path):
        if path.is_symlink() or not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_open(path) as file:
                file.write(data)
    return path
