"""A paper's results as one Markdown page, for readers of the repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from ddr_cli.papers.assess import ArtefactRuns, PaperResult
from ddr_cli.papers.lookup import HEADINGS
from ddr_cli.papers.tables import has_own_form, number_table, own_form, totals
from ddr_cli.papers.verdicts import both
from ddr_cli.rows.manifest import days_of
from ddr_cli.show.markdown import markdown
from ddr_cli.show.page import Block, Grid, Section, Text


def paper_page(result: PaperResult, figures: Mapping[str, Sequence[str]]) -> str:
    """Return the page; `figures` has the files of each artefact, relative to the page's folder."""
    paper = result.paper
    reference = paper.reference
    authors = ", ".join(reference.authors)
    days = days_of(each.run.manifest for item in result.artefacts for each in item.summaries)
    when = f"The trials are from {days}. " if days else ""
    about = [
        Text(f'{authors}, "{reference.title}", {reference.year}. {paper.asked}'),
        Text(
            f"{when}`ddr report results/` generates this page from the trial logs; `make "
            "reproduce` runs the trials again. "
            f"[What we did and found](../../docs/papers/{paper.name}.md) · "
            "[How verdicts are decided](../../docs/verdicts.md)"
        ),
        Text(
            "Our results are means ± standard deviations over splits, and n is the number of "
            "splits. A difference is our number minus the printed number (in percentage points for "
            "rates); the value after ± is twice the Monte-Carlo error. For a single split, the "
            "tables show the binomial error instead of twice the Monte-Carlo error."
        ),
    ]
    shown = [item for item in result.artefacts if item.has_results]
    claims = [
        {"where": own.where, "the paper says": own.text}
        | dict(zip(HEADINGS.values(), (own.shown, over.shown), strict=True))
        for own, over in both(result.of("claims"))
    ]
    link = f"[All claims with their numbers](tables/{paper.name}_claims.md)"
    blocks: list[Block] = [
        *_headline(result),
        Section("The paper", about),
        *(
            _artefact(item, table, figures.get(item.artefact.id, ()))
            for item in shown
            if not _is_of_readings(item, table := result.of("numbers", item.artefact.id))
        ),
        *_choices(shown),
        Section("Claims", [Grid(pd.DataFrame(claims)), Text(link)]),
    ]
    return markdown([Section(f"{paper.short}: printed results and our results", blocks)], level=1)


def _is_of_readings(item: ArtefactRuns, table: pd.DataFrame) -> bool:
    """Return whether an artefact only has other interpretations of the paper."""
    return item.artefact.kind == "readings" or (len(table) > 0 and bool(table["reading"].all()))


def _headline(result: PaperResult) -> Iterator[Block]:
    """Yield the verdicts on the paper's first claim, and how often each verdict was given."""
    for pair in [*both(result.of("claims"))][:1]:
        yield Text(f"The paper claims ({pair[0].where}): {pair[0].text}.")
        lines = []
        for heading, seen in zip(HEADINGS.values(), pair, strict=True):
            detail = f"{seen.ours[:1].upper()}{seen.ours[1:]}"
            lines.append(f"{heading[:1].upper()}{heading[1:]}: **{seen.verdict}**. {detail}.")
            if seen.why and not seen.counted:
                lines[-1] += f" The verdict is not counted, because {seen.why}."
        yield Text(lines)
    yield Grid(totals(result.verdicts))


def _artefact(item: ArtefactRuns, table: pd.DataFrame, figures: Sequence[str]) -> Section:
    artefact = item.artefact
    blocks: list[Block] = [Text(artefact.asked)]
    blocks += [Text(f"![{artefact.title}]({path})") for path in figures]
    if len(table):
        is_own = has_own_form(table, artefact)
        shown = own_form(table, artefact, notes=False) if is_own else number_table(table)
        blocks.append(Grid(shown.drop(columns=["notes", "reason"], errors="ignore")))
    reasons: dict[str, list[str]] = {}
    for own, over in both(table[(table["reading"] == "") & (table["same_as"] == "")]):
        differs = "differs" in f"{own.verdict} {over.verdict}"
        if differs and own.metric and own.reason != "unknown":
            reasons.setdefault(own.reason, []).append(f"{own.text} (printed: {own.printed})")
    if reasons:
        blocks.append(Text("Reasons for the differences:"))
        blocks.append(Text([f"*{'; '.join(names)}*: {why}" for why, names in reasons.items()]))
    return Section(f"{artefact.where}: {artefact.title}", blocks)


def _choices(shown: Sequence[ArtefactRuns]) -> Iterator[Section]:
    """Yield the interpretations that were chosen after results had been seen, each once."""
    found: dict[str, list[str]] = {}
    for item in shown:
        choice = item.artefact.choice
        if choice is not None and choice.when == "after":
            found.setdefault(choice.what, []).append(item.artefact.where)
    if found:
        lines = [
            f"{', '.join(places)}: after we had seen results, we chose {what}."
            for what, places in found.items()
        ]
        yield Section("Choices that the paper leaves open", [Text(lines)])
