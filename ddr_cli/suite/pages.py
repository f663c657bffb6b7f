"""A suite's pages: the leaderboard with the findings, one per method, and one per data set."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

import ddr_cli
from ddr_cli.charts.style import as_svg, rendered
from ddr_cli.comparison.across_datasets import EQUIVALENCE
from ddr_cli.comparison.names import method_name, metric_axis, metric_name, number
from ddr_cli.core.atomic import as_input_errors
from ddr_cli.core.errors import InputError
from ddr_cli.core.progress import progress_bar
from ddr_cli.report.chart import Chart, page_chart
from ddr_cli.report.page import PAGE, short
from ddr_cli.report.run_files import write_derived
from ddr_cli.show.csv import csv
from ddr_cli.show.html import page_environment, slug, table
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid
from ddr_cli.suite import charts
from ddr_cli.suite.benchmark import Benchmark
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.findings import CHOSEN_SENTENCE, findings
from ddr_cli.suite.leaderboard import Leaderboard
from ddr_cli.suite.names import FOLDER
from ddr_cli.suite.page_data import (
    caption,
    dimension_rows,
    drawn_rows,
    heads,
    method_facts,
    method_rows,
    offered,
    page_data,
    pair_class,
    pair_rows,
    set_facts,
    set_rows,
    standings,
)
from ddr_cli.suite.rows import SELECTED
from ddr_cli.suite.tables import (
    board_cells,
    choices_table,
    freeze_lines,
    leaderboard_notes,
    leaderboard_table,
)

LEADERBOARD, PICTURE, MARKDOWN = "leaderboard.csv", "leaderboard.png", "leaderboard.md"


def write_benchmark(bench: Benchmark, results: Path) -> tuple[list[Path], bool]:
    """Write a suite's pages and its leaderboard as CSV below `results/report/`.

    Return the files, and whether they were made again: not if nothing has changed.
    """
    suite = bench.suite
    folder = results / "report" / f"{FOLDER}{suite.name}"
    specs = [each.spec for each in bench.folders.values()]
    facts = (specs, bench.audits, [suite.card_of(name) for name in suite.datasets])
    source = [suite.model_dump_json(), bench.rows.to_csv(index=False), repr(facts)]
    encoded = [text.encode() for text in source]
    files, is_made = write_derived(folder, PAGE, encoded, lambda: _pages(bench))
    if is_made:
        _remove_old_pages(folder, suite, keep=files)
    return files, is_made


def _pages(bench: Benchmark) -> dict[str, bytes]:
    """Return the files of a suite's folder by name."""
    suite, board = bench.suite, bench.board()
    if board is None:
        raise InputError("No split has results for all methods yet; use 'ddr suite run'.")
    default = bench.board(tuned=False) if board.tuned else None
    drawn = _charts(bench, board, default)
    shared = {
        "bench": bench,
        "suite": suite,
        "board": board,
        "default": default,
        "charts": drawn,
        "version": ddr_cli.__version__,
        "method_name": method_name,
        "metric_name": metric_name,
        "metric_axis": metric_axis,
        "number": number,
        "short": short,
        "pair_class": pair_class,
        "caption": caption,
        "equivalence": EQUIVALENCE,
        "as_table": Grid,
        "html_table": table,
    }
    environment = page_environment("ddr_cli.suite")

    def page(template: str, **more: Any) -> str:
        return environment.get_template(template).render(**shared | more)

    files: dict[str, str | bytes] = {
        LEADERBOARD: csv(Grid(_with_origin(suite, board))),
        PICTURE: rendered(charts.draw_scores(bench, board))[1],
        MARKDOWN: markdown_page(bench, board),
        PAGE: page(
            "suite.html.j2",
            boards=offered(bench),
            chosen=CHOSEN_SENTENCE,
            findings=[(each, each.told(bench)) for each in findings()],
            rows=board_cells(board),
            drawn=drawn_rows(board),
            n_rows=int((bench.rows["classifier"] != SELECTED).sum()),
            heads=heads(board),
            choices=choices_table(bench.choices, board) if len(bench.choices) else None,
            pairs=pair_rows(board),
            dimensions=dimension_rows(bench, board.baseline),
            sets=[set_facts(bench, board, name) for name in bench.manifests],
            data=page_data(bench),
        ),
    }
    dimensions = {name: dimension_rows(bench, board.baseline, name) for name in bench.manifests}
    by_set = {name: set_rows(bench, board, str(name)) for name in board.means.index}
    for name in progress_bar(list(board.means), "Methods"):
        files[f"methods/{slug(str(name))}.html"] = page(
            "suite_method.html.j2",
            name=str(name),
            facts=method_facts(bench, str(name)),
            standings=standings(bench, str(name)),
            rows=method_rows(by_set, str(name)),
            dimensions={each: of[name] for each, of in dimensions.items() if name in of},
        )
    for name in progress_bar(list(bench.manifests), "Data sets"):
        files[f"datasets/{slug(name)}.html"] = page(
            "suite_dataset.html.j2",
            facts=set_facts(bench, board, name),
            rows=by_set.get(name, []),
            dimensions=dimensions[name],
        )
    return {name: each.encode() if isinstance(each, str) else each for name, each in files.items()}


def markdown_page(bench: Benchmark, board: Leaderboard) -> str:
    """Return the leaderboard as a page to be read where the repository is shown."""
    suite = bench.suite
    default = bench.board(tuned=False) if board.tuned else None
    tables = [_sizes_table(bench), leaderboard_table(board, wide=True)]
    if len(bench.choices):
        tables.append(choices_table(bench.choices, board))
    if default is not None:
        tables.append(leaderboard_table(default, wide=True))
    notes = leaderboard_notes(board, suite.methods_of(board.track), wide=True)
    lines = [
        f"# {suite.title}",
        f"{heads(board)['said']} {caption(board)}",
        suite.description,
        *(f"**{line[0].upper()}{line[1:]}**" for line in freeze_lines(suite)),
        f"Suite `{suite.name}`, version {suite.version}; run on {bench.days}. `ddr suite page "
        f"{suite.name}` generates this page from the trial logs"
        + ("." if suite.frozen else f"; `ddr suite run {suite.name}` runs the missing trials."),
        f"![Scores with intervals]({PICTURE})",
        "\n".join(f"- {note}" for note in notes),
        *(markdown([table]) for table in tables),
    ]
    return "\n\n".join(line.strip() for line in lines) + "\n"


def _sizes_table(bench: Benchmark) -> Grid:
    """Return the number of data sets of each group, and the sizes of their training sets.

    A group of another track is left out, because the sizes may differ in that track.
    """
    groups = {"all": list(bench.n_train)} | bench.groups
    sizes = {
        name: [bench.n_train[each] for each in own if each in bench.n_train]
        for name, own in groups.items()
    }
    frame = pd.DataFrame(
        [
            {
                "group": name.replace("_", " "),
                "data sets": str(len(own)),
                "training samples": f"{min(own):,} to {max(own):,}",
                "median": f"{median(own):,.0f}",
            }
            for name, own in sizes.items()
            if own and name not in bench.suite.tracks
        ]
    )
    return Grid(frame, "Sizes of the training sets")


def _with_origin(suite: Suite, board: Leaderboard) -> pd.DataFrame:
    """Return a leaderboard's table with columns that identify it."""
    said: dict[str, Any] = {"suite": suite.name, "version": suite.version, "title": suite.title}
    said |= {name: getattr(board, name) for name in ("track", "classifier", "metric", "tuned")}
    return board.table.assign(**said)[[*said, *board.table]]


def _remove_old_pages(folder: Path, suite: Suite, *, keep: Collection[Path]) -> None:
    """Remove the pages of methods and data sets that the suite no longer has; no other file."""
    made_by = f"Made by <code>ddr suite page {escape(suite.name)}</code>"
    for path in {*folder.glob("methods/*.html"), *folder.glob("datasets/*.html")}.difference(keep):
        with as_input_errors(path):
            if made_by.encode() in path.read_bytes():
                path.unlink()


def _charts(bench: Benchmark, board: Leaderboard, default: Leaderboard | None) -> dict[str, Chart]:
    has_sizes, has_trust = len(bench.by_size) > 0, "trustworthiness" in bench.faithfulness
    figures = {
        "time": charts.draw_time(board) if board.table["seconds"].any() else None,
        "order": charts.draw_order(bench.orders) if len(bench.orders) else None,
        "year": charts.draw_years(board, bench.years)
        if len(set(bench.years.values())) > 1
        else None,
        "tuning": charts.draw_tuning(board, default) if default is not None else None,
        "labels": charts.draw_labels(bench) if len(bench.by_labels) else None,
        "dimension": charts.draw_dimensions(bench) if len(bench.by_dimension) else None,
        "size": charts.draw_sizes(bench) if has_sizes else None,
        "seconds": charts.draw_sizes(bench, "seconds") if has_sizes else None,
        "memory": charts.draw_memory(bench) if has_sizes else None,
        "faithfulness": charts.draw_faithfulness(bench) if has_trust else None,
        "permuted": charts.draw_permuted(bench.permuted) if len(bench.permuted) else None,
    }
    drawn = {name: figure for name, figure in figures.items() if figure is not None}
    return {
        name: page_chart(place, as_svg(figure).decode())
        for place, (name, figure) in enumerate(drawn.items())
    }
