"""Write what is derived from journals: a run's summary and figure, and the whole report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.report.assess import ArtefactResult, Assessment, PaperResult, assess, marks_for
from ddr_cli.report.counts import COUNTS, count_text
from ddr_cli.report.figures import draw
from ddr_cli.report.formats import Format
from ddr_cli.report.matrices import mark_data, matrix_of
from ddr_cli.report.page import Picture, render_page
from ddr_cli.report.record import FILE_NAME as RECORD_NAME
from ddr_cli.report.record import (
    Regression,
    read_record,
    record_of,
    record_text,
    regressions,
)
from ddr_cli.report.runs import load_run
from ddr_cli.report.style import rendered
from ddr_cli.report.summary import Summary, summarize
from ddr_cli.report.tables import claim_table, number_data, number_table
from ddr_cli.report.writing import to_csv, to_latex, to_markdown

PAGE = "index.html"


_ENDINGS = {Format.csv: ".csv", Format.markdown: ".md", Format.latex: ".tex"}


@dataclass(frozen=True)
class ReportOutcome:
    """What a report found and wrote.

    Parameters
    ----------
    assessment : Assessment
        Every printed number and claim with its verdicts.
    regressions : tuple of Regression
        Verdicts that are worse than those recorded before.
    recorded : bool
        Whether there was a record to compare with.
    files : tuple of Path
        The files written.
    page : Path or None
        The page, if it was written.
    """

    assessment: Assessment
    regressions: tuple[Regression, ...]
    recorded: bool
    files: tuple[Path, ...] = ()
    page: Path | None = None


def write_run(folder: Path) -> list[Path]:
    """Derive ``summary.csv``, ``figure.svg`` and ``figure.png`` of a run from its journal.

    Parameters
    ----------
    folder : Path
        A result folder, of a complete or a partial run.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the folder holds no run, its files are damaged, or they can't be written.
    """
    return _write_run(summarize(load_run(folder)))


def _write_run(summary: Summary) -> list[Path]:
    folder = summary.run.folder
    svg, png = rendered(draw(summary, marks_for(summary)))
    contents = {
        "summary.csv": to_csv(summary.rows).encode(),
        "figure.svg": svg,
        "figure.png": png,
    }
    return [_write(folder / name, content) for name, content in contents.items()]


def check_report(results: Path, *, paper: str | None = None) -> ReportOutcome:
    """Evaluate a results folder and compare with the recorded verdicts, writing nothing.

    Raises
    ------
    InputError
        As `assess`, or if the record of verdicts is damaged.
    """
    assessment = assess(results, paper)
    recorded = read_record(results)
    worse = regressions(recorded, record_of(assessment), paper)
    return ReportOutcome(assessment, tuple(worse), bool(recorded))


def write_report(
    results: Path, *, paper: str | None = None, format: Format = Format.all
) -> ReportOutcome:
    """Write the report on a results folder into its subfolder ``report/``.

    Every run's ``summary.csv`` and figure, the tables of every artefact and of the claims
    (``report/tables``), the papers' figures (``report/figures``), one page
    (``report/index.html``), the counts of verdicts per paper (``report/verdict_counts.md``, of all
    papers only), and ``verdicts.json``, which the next `check_report` compares with.
    All of it comes from the journals and manifests alone; the same ones give the same bytes.

    Parameters
    ----------
    results : Path
        The folder that holds the runs' folders.
    paper : str, optional
        Only this one. The page then holds nothing else.
    format : Format
        ``csv``, ``markdown`` or ``latex`` write only the tables in that form, ``html`` only the
        page with its figures.

    Returns
    -------
    ReportOutcome

    Raises
    ------
    InputError
        As `check_report`, or if a file can't be written.
    """
    before = check_report(results, paper=paper)
    assessment = before.assessment
    target = results / "report"
    files: list[Path] = []
    if format is not Format.html:
        for result in assessment.papers:
            files += _write_tables(target / "tables", result, format)
    if paper is None and format in (Format.markdown, Format.all):
        files.append(_write(target / COUNTS, count_text(assessment).encode()))
    page = None
    if format in (Format.html, Format.all):
        pictures = {}
        for summary in _summaries(assessment):
            files += _write_run(summary)
            svg, png = (
                (summary.run.folder / f"figure.{kind}").read_bytes() for kind in ("svg", "png")
            )
            pictures[summary.run.name] = Picture(summary.run.name, svg.decode(), png)
        for result in assessment.papers:
            files += _copy_figures(target / "figures", result)
        page = _write(target / PAGE, render_page(assessment, pictures).encode())
        files.append(page)
    record = read_record(results) | record_of(assessment)
    files.append(_write(results / RECORD_NAME, record_text(record).encode()))
    return ReportOutcome(assessment, before.regressions, before.recorded, tuple(files), page)


def _summaries(assessment: Assessment) -> list[Summary]:
    """Return every summary once, also where artefacts share a run."""
    found = {
        summary.run.name: summary
        for result in assessment.papers
        for item in result.artefacts
        for summary in item.summaries
    }
    found |= {summary.run.name: summary for summary in assessment.others}
    return [found[name] for name in sorted(found)]


def _write_tables(folder: Path, result: PaperResult, format: Format) -> list[Path]:
    files = []
    for item in result.artefacts:
        matrix = matrix_of(item)
        if item.numbers:
            shown = matrix.frame() if matrix else number_table(item.artefact, item.numbers)
            files += _write_table(
                folder / _stem(result, item), number_data(item.numbers), shown, format
            )
        if item.marks and matrix:
            files += _write_table(
                folder / _stem(result, item), mark_data(item.marks), matrix.frame(), format
            )
    if result.claims:
        shown = claim_table(result.claims)
        files += _write_table(folder / f"{result.paper.name}_claims", shown, shown, format)
    return files


def _stem(result: PaperResult, item: ArtefactResult) -> str:
    return f"{result.paper.name}_{item.artefact.id}"


def _write_table(stem: Path, data: pd.DataFrame, shown: pd.DataFrame, format: Format) -> list[Path]:
    texts = {".csv": to_csv(data), ".md": to_markdown(shown), ".tex": to_latex(shown)}
    wanted = _ENDINGS if format is Format.all else {format: _ENDINGS[format]}
    return [
        _write(stem.with_name(stem.name + ending), texts[ending].encode())
        for ending in wanted.values()
    ]


def _copy_figures(folder: Path, result: PaperResult) -> list[Path]:
    """Put the figures of a paper's artefacts together, under the artefacts' names."""
    return [
        _write(
            folder / f"{_figure_stem(result, item, summary)}{ending}",
            (summary.run.folder / f"figure{ending}").read_bytes(),
        )
        for item in result.artefacts
        for summary in item.own
        for ending in (".svg", ".png")
    ]


def _figure_stem(result: PaperResult, item: ArtefactResult, summary: Summary) -> str:
    stem = _stem(result, item)
    return stem if len(item.artefact.specs) == 1 else f"{stem}_{summary.run.name}"


def _write(path: Path, content: bytes) -> Path:
    with clear_messages(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
    return path
