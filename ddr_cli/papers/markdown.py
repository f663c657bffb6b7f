"""A paper's results as one Markdown page, for readers of the repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

import pandas as pd

from ddr_cli.papers import cells
from ddr_cli.papers.assess import CALIBRATION, ArtefactResult, PaperResult
from ddr_cli.papers.cells import entry_text, printed_text, reason_text
from ddr_cli.papers.claims import ClaimVerdict
from ddr_cli.papers.lookup import HEADINGS, VIEWS
from ddr_cli.papers.numbers import Verdict
from ddr_cli.papers.tables import matrix_of, number_table
from ddr_cli.report.table import Table
from ddr_cli.rows.manifest import days_of
from ddr_cli.show.markdown import markdown

_LEFT_OUT = ("note", "notes", "reason")


def paper_page(result: PaperResult, figures: dict[str, list[str]]) -> str:
    """Return the page; `figures` has the files of each artefact, relative to the page's folder."""
    paper = result.paper
    reference = paper.reference
    authors = ", ".join(reference.authors)
    days = days_of(each.run.manifest for item in result.artefacts for each in item.summaries)
    when = f"The trials are from {days}. " if days else ""
    lines = [
        f"# {paper.short}: printed results and our results",
        *_findings(result),
        "## The paper",
        f'{authors}, "{reference.title}", {reference.year}. {paper.asked}',
        f"{when}`ddr report results/` generates this page from the trial logs; `make reproduce` "
        "runs the trials again. "
        f"[What we did and found](../../docs/papers/{paper.name}.md) · "
        "[How verdicts are decided](../../docs/verdicts.md)",
        "Our results are means ± standard deviations over splits, and n is the number of splits. A "
        "difference is our number minus the printed number (in percentage points for rates); the "
        "value after ± is twice the Monte-Carlo error. For a single split, the tables show the "
        "binomial error instead of twice the Monte-Carlo error.",
    ]
    for item in result.artefacts:
        if item.has_results and not _is_of_readings(item):
            lines += _artefact(item, figures.get(item.artefact.id, []))
    lines += [*_choices(result), "## Claims", _claims(result)]
    lines.append(f"[All claims with their numbers](tables/{paper.name}_claims.md)")
    return "\n\n".join(line.strip() for line in lines) + "\n"


def _is_of_readings(item: ArtefactResult) -> bool:
    """Return whether an artefact only has other interpretations of the paper."""
    others = [each.entry.reading for each in item.judged]
    return item.artefact.kind == "readings" or (bool(others) and all(others))


def _findings(result: PaperResult) -> Iterator[str]:
    """Yield the verdicts on the paper's first claim, and how often each verdict was given."""
    for claim in result.claims[:1]:
        yield f"The paper claims ({claim.entry.where}): {claim.entry.sentence}."
        lines = []
        for view in VIEWS:
            found = claim.through(view)
            text = f"- {HEADINGS[view][:1].upper()}{HEADINGS[view][1:]}: **{found.verdict}**"
            lines.append(f"{text}. {found.detail[:1].upper()}{found.detail[1:]}.")
            if (why := claim.entry.calibration) and not claim.entry.is_counted(view):
                lines[-1] += f" The verdict is not counted, because {why.why}."
        yield "\n".join(lines)
    own, over = (result.counts(view) for view in VIEWS)
    claims, claims_over = (result.claim_counts(view) for view in VIEWS)
    records = [
        {"": what, HEADINGS["own"]: _listed(first), HEADINGS["resplits"]: _listed(second)}
        for what, first, second in (
            ("claims", claims, claims_over),
            ("printed numbers", own, over),
        )
    ]
    yield markdown([Table(pd.DataFrame(records))])


def _listed(counts: Counter[str]) -> str:
    order = [*get_args(Verdict), *get_args(ClaimVerdict), CALIBRATION]
    return ", ".join(f"{name}: {counts[name]}" for name in dict.fromkeys(order) if counts[name])


def _artefact(item: ArtefactResult, figures: list[str]) -> Iterator[str]:
    artefact = item.artefact
    yield f"## {artefact.where}: {artefact.title}"
    yield artefact.asked or ""
    for path in figures:
        yield f"![{artefact.title}]({path})"
    matrix = matrix_of(item)
    if matrix is not None:
        frame = matrix.frame()
        yield markdown([Table(frame[~frame[" "].isin(_LEFT_OUT)])])
    elif item.numbers:
        shown = number_table(artefact, item.numbers)
        yield markdown([Table(shown.drop(columns=list(_LEFT_OUT), errors="ignore"))])
    reasons: dict[str, list[str]] = {}
    for each in item.numbers:
        differs = any(each.through(view).verdict.startswith("differs") for view in VIEWS)
        if differs and each.entry.reason and not each.entry.reading and not each.entry.same_as:
            what = f"{entry_text(artefact, each)} (printed: {printed_text(each)})"
            reasons.setdefault(reason_text(each.entry), []).append(what)
    if reasons:
        lines = [f"- *{'; '.join(names)}*: {reason}" for reason, names in reasons.items()]
        yield "Reasons for the differences:\n\n" + "\n".join(lines)


def _choices(result: PaperResult) -> Iterator[str]:
    """Yield the interpretations that were chosen after results had been seen, each once."""
    found: dict[str, list[str]] = {}
    for item in result.artefacts:
        choice = item.artefact.choice
        if item.has_results and choice is not None and choice.when == "after":
            found.setdefault(choice.what, []).append(item.artefact.where)
    if found:
        yield "## Choices that the paper leaves open"
        yield "\n".join(
            f"- {', '.join(places)}: after we had seen results, we chose {what}."
            for what, places in found.items()
        )


def _claims(result: PaperResult) -> str:
    records = [
        {
            "where": each.entry.where,
            "the paper says": each.entry.sentence,
            **{HEADINGS[view]: cells.verdict_text(each, view) for view in VIEWS},
        }
        for each in result.claims
    ]
    return markdown([Table(pd.DataFrame(records))])
