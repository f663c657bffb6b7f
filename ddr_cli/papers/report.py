"""Writes the whole report, which is computed from the journals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ddr_cli.core.progress import progress_bar
from ddr_cli.papers.assess import ArtefactRuns, Assessment, PaperResult, assess
from ddr_cli.papers.figure_notes import notes_on
from ddr_cli.papers.markdown import paper_page
from ddr_cli.papers.record import RECORD, read_record, regressions, verdict_record
from ddr_cli.papers.tables import (
    claim_table,
    glossary_table,
    has_own_form,
    mark_data,
    number_data,
    number_table,
    own_form,
)
from ddr_cli.report import Format
from ddr_cli.report.chart import page_chart
from ddr_cli.report.page import PAGE
from ddr_cli.report.run_files import write_derived, write_figure, write_file, write_run
from ddr_cli.show.csv import csv
from ddr_cli.show.html import html
from ddr_cli.show.latex import latex
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = "verdict_counts.md"
_FORMS = {
    Format.csv: (".csv", csv),
    Format.markdown: (".md", lambda grid: markdown([grid])),
    Format.latex: (".tex", latex),
}


@dataclass
class ReportOutcome:
    """The verdicts and files of a report, and the verdicts lost since the record (if there is one).

    `unchanged` are the figures that were not drawn again. `page` is None if it was not written.
    """

    assessment: Assessment
    regressions: tuple[str, ...]
    recorded: bool
    files: tuple[Path, ...] = ()
    unchanged: tuple[Path, ...] = ()
    page: Path | None = None


def check_report(results: Path, *, paper: str | None = None) -> ReportOutcome:
    """Judge a results folder and compare it with the recorded verdicts; nothing is written."""
    assessment = assess(results, paper)
    recorded = read_record(results)
    lost = regressions(recorded, verdict_record(assessment.verdicts), paper)
    return ReportOutcome(assessment, tuple(lost), bool(recorded))


def write_report(
    results: Path, *, paper: str | None = None, format: Format = Format.all
) -> ReportOutcome:
    """Write the report on a results folder into its subfolder ``report/``.

    Every run's ``summary.csv`` and figure, the tables of every artefact and of the claims
    (``report/tables``), the papers' figures (``report/figures``), one page (``report/index.html``),
    a Markdown page per paper (``report/ccdr.md``), the counts of verdicts per paper
    (``report/verdict_counts.md``, of all papers only), and ``verdicts.json``, which the next
    `check_report` compares with. If a run can't be read, the record is not changed, and everything
    else is written without that run. Everything comes from the journals and manifests alone; the
    same ones give identical files.

    With one `paper`, the page contains only this paper. The formats ``csv``, ``markdown`` and
    ``latex`` write only the tables in that form, ``html`` only the page with its figures,
    and ``pdf`` only the figures as PDF.
    """
    outcome = check_report(results, paper=paper)
    assessment = outcome.assessment
    target = results / "report"
    files: list[Path] = []
    unchanged: list[Path] = []
    if format is Format.pdf:
        files += _write_pdfs(target / "figures", assessment)
    elif format is not Format.html:
        for result in assessment.papers:
            files += _write_tables(target / "tables", result, format)
        if assessment.papers:
            words = glossary_table()
            files += _write_table(target / "tables" / "glossary", words, words, format)
    if paper is None and format in (Format.markdown, Format.all):
        files.append(write_file(target / COUNTS, count_text(assessment)))
    page = None
    if format in (Format.html, Format.all):
        drawings: dict[str, bytes] = {}
        for summary in progress_bar(assessment.summaries, "Figures"):
            files += write_run(summary, notes_on(summary), unchanged=unchanged)
            drawings[summary.run.name] = (summary.run.folder / "figure.svg").read_bytes()
        # The last line of a figure's file changes with everything that its run's verdicts depend
        # on.
        of_runs = tuple(drawings.values())
        for result in assessment.papers:
            pictures: dict[str, list[str]] = {}
            for item in result.artefacts:
                copied = list(_copy_figures(target / "figures", result, item))
                files += copied
                pictures[item.artefact.id] = [
                    f"figures/{path.name}" for path in copied if path.suffix == ".png"
                ]
                if item.compared:
                    stem = target / "figures" / f"{_stem(result, item)}_differences"
                    drawn = write_figure(
                        stem, of_runs, partial(_differences, item), unchanged=unchanged
                    )
                    files += drawn
                    drawings[stem.name] = drawn[0].read_bytes()
                    pictures[item.artefact.id] = [f"figures/{stem.name}.png"]
            text = paper_page(result, pictures)
            files.append(write_file(target / f"{result.paper.name}.md", text))
        page = target / PAGE
        suites = (
            sorted(path.parent.name for path in target.glob(f"*/{PAGE}")) if paper is None else []
        )

        def pages() -> dict[str, bytes]:
            from ddr_cli.papers.page import report_page

            charts = {
                name: page_chart(place, drawing.decode())
                for place, (name, drawing) in enumerate(progress_bar(drawings.items(), "Page"))
            }
            return {PAGE: html(report_page(assessment, charts, suites)).encode()}

        shown = repr([*drawings, suites, assessment.unread, paper]).encode()
        files += write_derived(target, PAGE, [shown, *drawings.values()], pages)[0]
    # A run that can't be read has no verdicts, so the record would lose them.
    if not assessment.unread:
        record = read_record(results) | verdict_record(assessment.verdicts)
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        files.append(write_file(results / RECORD, text))
    outcome.files, outcome.unchanged, outcome.page = tuple(files), tuple(unchanged), page
    return outcome


def count_text(assessment: Assessment) -> str:
    """Return the counts as Markdown tables: in the paper's own setting / over re-splits."""
    return markdown(Grid(each.reset_index()) for each in assessment.counts() if len(each))


def _write_pdfs(folder: Path, assessment: Assessment) -> Iterator[Path]:
    from ddr_cli.charts.style import as_pdf
    from ddr_cli.report.run_chart import draw

    for summary in progress_bar(assessment.summaries, "Figures"):
        path = summary.run.folder / "figure.pdf"
        yield write_file(path, as_pdf(draw(summary, notes_on(summary))))
    for result in assessment.papers:
        for item in result.artefacts:
            yield from _copy_figures(folder, result, item, (".pdf",))
            if item.compared:
                path = folder / f"{_stem(result, item)}_differences.pdf"
                yield write_file(path, as_pdf(_differences(item)))


def _differences(item: ArtefactRuns) -> Figure:
    # This import loads Matplotlib, which only figures need.
    from ddr_cli.papers.differences_chart import draw_differences

    return draw_differences(item.artefact.title, item.compared)


def _write_tables(folder: Path, result: PaperResult, format: Format) -> Iterator[Path]:
    for item in result.artefacts:
        artefact = item.artefact
        if len(table := result.of("numbers", artefact.id)):
            is_own = has_own_form(table, artefact)
            shown = own_form(table, artefact) if is_own else number_table(table)
            data = mark_data(table) if artefact.kind == "marks" else number_data(table)
            yield from _write_table(folder / _stem(result, item), data, shown, format)
    claims = claim_table(result.verdicts, result.paper)
    for name, shown in (("claims", claims), ("reading_verdicts", result.readings)):
        if len(shown):
            yield from _write_table(folder / f"{result.paper.name}_{name}", shown, shown, format)


def _stem(result: PaperResult, item: ArtefactRuns) -> str:
    return f"{result.paper.name}_{item.artefact.id}"


def _write_table(stem: Path, data: pd.DataFrame, shown: pd.DataFrame, format: Format) -> list[Path]:
    return [
        write_file(
            stem.with_name(stem.name + ending), text(Grid(data if ending == ".csv" else shown))
        )
        for form, (ending, text) in _FORMS.items()
        if format in (form, Format.all)
    ]


def _copy_figures(
    folder: Path,
    result: PaperResult,
    item: ArtefactRuns,
    endings: Sequence[str] = (".svg", ".png"),
) -> Iterator[Path]:
    """Copy the figures of an artefact's runs to the report, under the artefact's name."""
    for summary in item.own:
        run = f"_{summary.run.name}" if len(item.artefact.specs) > 1 else ""
        for ending in endings:
            drawn = (summary.run.folder / f"figure{ending}").read_bytes()
            yield write_file(folder / f"{_stem(result, item)}{run}{ending}", drawn)
