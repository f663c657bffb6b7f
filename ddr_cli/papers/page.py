"""The page of a report: the verdicts on every paper, and the other runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from ddr_cli.core.errors import counted
from ddr_cli.papers.assess import ArtefactRuns, Assessment, PaperResult
from ddr_cli.papers.claims import DECIDED
from ddr_cli.papers.lookup import HEADINGS, VIEWS
from ddr_cli.papers.schema import Artefact
from ddr_cli.papers.tables import (
    ALONE,
    counts,
    glossary_table,
    has_own_form,
    number_table,
    own_form,
    own_groups,
    remarks,
    shown_views,
    totals,
)
from ddr_cli.papers.verdicts import SIGN_LEGEND, both, with_n
from ddr_cli.papers.words import anchor, badge, look_of, verdict_badge, words
from ddr_cli.report.chart import Chart as Drawing
from ddr_cli.report.page import about, drawing
from ddr_cli.report.run_page import chart_of, run_section
from ddr_cli.show.html import bar, cell, filter_form
from ddr_cli.show.page import Block, Chart, Grid, Look, Page, Section, Text, text_grid

_WHERE = ("In the paper's own setting", "Over re-splits")
_JUDGED = ("reproduced", "close", "differs (higher)", "differs (lower)", "differs", "uninformative")
"""The verdicts that compare our number with a printed one."""
_LOOKS: Mapping[Look, str] = {
    "good": "reproduced, holds",
    "even": "close, undecided, uninformative",
    "bad": "differs, fails",
    "dim": "other",
}


def report_page(
    assessment: Assessment, charts: Mapping[str, Drawing], suites: Sequence[str] = ()
) -> Page:
    """Return the page of a report, with the figure of each run by its name.

    `suites` are the folders next to the page that contain the pages of suites.
    """
    papers = assessment.papers
    blocks = _texts("lead" if papers else "lead of runs", "lead")
    blocks += [Text(about(assessment.summaries), "about"), *map(_suite_link, suites)]
    if papers:
        blocks += _overview(assessment)
    blocks += [_paper(result, charts) for result in papers]
    if assessment.others:
        runs = [run_section(each, charts) for each in assessment.others]
        blocks.append(Section("Other runs" if papers else "Runs", runs, "others"))
    if papers:
        blocks.append(_glossary())
    return Page(
        "The papers' results and our results" if papers else "Results",
        blocks,
        top="At a glance" if papers else "Results",
        footer=words().page["footer"][0],
    )


def _texts(place: str, kind: str = "") -> list[Block]:
    return [Text(each, kind) for each in words().page[place]]


def _suite_link(name: str) -> Text:
    link = '<p class="about"><a href="{}/index.html">{}</a>: leaderboard, methods, data sets</p>'
    return Text(Markup(link).format(name, name.replace("_", " ")))


# -- at a glance -----------------------------------------------------------------------------------


def _overview(assessment: Assessment) -> Iterator[Block]:
    key = Markup().join(
        Markup('<span class="{}">{}</span>').format(look, text) for look, text in _LOOKS.items()
    )
    line = Markup('<div class="glance"><h2><a href="#{}">{}</a></h2>{}<p>{}</p></div>')
    lines = [
        line.format(each.paper.name, each.paper.short, _bar(each), _glance(each))
        for each in assessment.papers
    ]
    yield Text(
        Markup(
            '<section id="overview" aria-label="At a glance"><p class="key" aria-hidden="true">{}'
            "</p>{}</section>"
        ).format(key, Markup().join(lines))
    )
    yield from _texts("bars", "legend")
    grids = []
    for each in assessment.counts():
        frame = each.reset_index(names="Paper")
        heads = [verdict_badge(name) for name in each.columns]
        frame.columns = pd.Index(["Paper", *heads], dtype=object)
        grids.append(Grid(frame, f"Verdicts on {each.index.name}"))
    yield Section("All counts (in the paper's own setting / over re-splits)", grids, folded=True)
    yield filter_form({"paper": "Paper", "verdict": "Verdict", "method": "Method"})


def _bar(result: PaperResult) -> Markup:
    """Return the verdicts in the paper's own setting as a bar."""
    found = counts(result.verdicts, "numbers", "own") + counts(result.verdicts, "claims", "own")
    del found[ALONE]
    parts = []
    for look in _LOOKS:
        own = {name: n for name, n in found.items() if look_of(name) == look}
        if own:
            text = ", ".join(f"{n} {name}" for name, n in own.items())
            parts.append((sum(own.values()), look, text))
    return bar(parts, f"{result.paper.short}, verdicts in the paper's own setting")


def _glance(result: PaperResult) -> str:
    """Return the results on a paper in one sentence per view."""
    sentences = []
    for view, where in zip(VIEWS, _WHERE, strict=True):
        numbers, claims = (counts(result.verdicts, what, view) for what in ("numbers", "claims"))
        judged, decided = sum(numbers[n] for n in _JUDGED), sum(claims[n] for n in DECIDED)
        near = numbers["reproduced"] + numbers["close"]
        parts = [f"{near} of {judged} printed results are reproduced or close"] if judged else []
        parts += [f"{claims['holds']} of {decided} claims hold"] if decided else []
        if parts:
            sentences.append(f"{where}, {', and '.join(parts)}.")
    return " ".join(sentences) or "There are no verdicts yet."


# -- a paper ---------------------------------------------------------------------------------------


def _paper(result: PaperResult, charts: Mapping[str, Drawing]) -> Section:
    paper = result.paper
    reference = paper.reference
    citation = Markup('<p class="citation">{} ({}). <cite>{}</cite>. {}.</p>').format(
        ", ".join(reference.authors), reference.year, reference.title, reference.venue
    )
    blocks: list[Block] = [
        Text(citation),
        Section("Question and interpretation", [Text(paper.asked), Text(paper.reading)]),
        Section("Results", [Text(_bar(result)), text_grid(totals(result.verdicts))]),
    ]
    if paper.claims:
        blocks.append(_claims(result))
    blocks += [_artefact(result, item, charts) for item in result.artefacts]
    if rows := len(result.readings):
        names = Text([f"{each.name}: {each.what}." for each in paper.readings], "legend")
        title = f"Verdicts on numbers and claims for each interpretation: {rows} rows"
        table = Section(title, [names, text_grid(result.readings)], folded=True)
        inner = [*_texts("interpretations"), table]
        blocks.append(Section("Interpretations and verdicts", inner, f"{paper.name}-choices"))
    if len(frame := _differences(result)):
        table = Section(counted(len(frame), "difference"), [text_grid(frame)], folded=True)
        blocks.append(Section("Differences and reasons", [table], f"{paper.name}-differences"))
    return Section(paper.short, blocks, paper.name, "paper group")


def _items(result: PaperResult, table: pd.DataFrame) -> dict[str, str]:
    """Return what the filter of the page looks into, for these verdicts."""
    found = {"paper": result.paper.short}
    for name, column in (("verdict", "verdict"), ("method", "methods")):
        found[name] = "|".join(dict.fromkeys("|".join(table[column]).split("|")))
    return found


def _claims(result: PaperResult) -> Section:
    heads = ("Paper’s setting", "Re-splits", "The paper says")
    spans = Markup().join(Markup("<span>{}</span>").format(head) for head in heads)
    blocks: list[Block] = [
        *_texts("claims"),
        Text(Markup('<p class="heads" aria-hidden="true">{}</p>').format(spans)),
    ]
    for name, table in result.verdicts.groupby("claim", sort=False):
        if name:
            blocks.append(_claim(result, table))
    return Section("Claims", blocks, f"{result.paper.name}-claims", "group")


def _claim(result: PaperResult, table: pd.DataFrame) -> Section:
    """Return one line per claim; opened, its sub-claims with their numbers and rows."""
    (own, over), *parts = both(table)
    title = Markup("{} {} <span>{} <small>{}</small></span>").format(
        *(cell(badge(row, link=False)) for row in (own, over)), own.text, own.where
    )
    blocks: list[Block] = []
    if own.differs:
        what = "mean and the interval" if own.same_splits else "paper’s setting and the re-splits"
        blocks.append(Text(f"The {what} disagree.", "note"))
    blocks += [Text(own.remark)] if own.remark else []
    blocks += [Text(f"Calibration: {own.why}.")] if own.why else []
    # The numbers of a claim with one sub-claim are those of the sub-claim.
    is_one = len(parts) == 1 and [row.ours for row in parts[0]] == [own.ours, over.ours]
    shown = parts if is_one else [(own, over), *parts]
    heads = ("Sub-claim", "In the paper’s setting", "Over re-splits")
    frame = pd.DataFrame([_part(result, *pair) for pair in shown], columns=heads)
    rows = [["rows of the trial logs", first.rows] if first.rows else [] for first, _ in shown]
    blocks.append(Grid(frame, left=heads, details=rows))
    if own.differs or "fails" in (own.verdict, over.verdict):
        blocks.append(Text(f"Reason: {own.reason}"))
    return Section(
        title,
        blocks,
        id=f"claim-{result.paper.name}-{own.id}",
        kind="claim split" if own.differs else "claim",
        folded=True,
        item=_items(result, table[table["kind"] == "claims"]),
    )


def _part(result: PaperResult, own: Any, over: Any) -> list[object]:
    """Return the row of a sub-claim, or of its claim as a whole."""
    seen = [(badge(row), row.ours) for row in (own, over)]
    if own.kind == "claims":
        return ["The claim", *seen]
    facts = [f"{own.threshold}; threshold fixed {own.fixed}", own.why]
    if (choice := result.paper.artefact(own.artefact).choice) is not None:
        facts[0] += f"; interpretation chosen {choice.when} we had seen a result"
    reading = f" (another interpretation: {own.reading})" if own.reading else ""
    return [(f"{own.text}{reading}", ". ".join(filter(None, facts))), *seen]


# -- a table or figure of a paper ------------------------------------------------------------------


def _artefact(result: PaperResult, item: ArtefactRuns, charts: Mapping[str, Drawing]) -> Section:
    artefact, name = item.artefact, f"{result.paper.name}-{item.artefact.id}"
    blocks: list[Block] = [Text(artefact.asked)]
    if item.state:
        runs = "".join(f". Run `ddr run {spec}`" for spec in item.missing)
        blocks.append(Text(f"{item.state}{runs}.", "state"))
    said = [*_said(result, artefact)]
    figures: list[Block] = []
    if (drawn := charts.get(f"{result.paper.name}_{artefact.id}_differences")) is not None:
        figures.append(Chart(artefact.title, drawing(drawn, artefact.title), said))
    for each in item.own:
        if each.run.name in charts:
            caption = said if each == item.own[0] and not figures else ()
            figures.append(chart_of(each, charts[each.run.name], caption))
    blocks += figures[:1]
    if len(table := result.of("numbers", artefact.id)):
        blocks.append(_grid(result, item, table))
    elif len(result.of("artefacts", artefact.id)):
        none = Markup("<p>{} The paper prints no number here; see the figure and the claims.</p>")
        blocks.append(Text(none.format(cell(verdict_badge("not testable")))))
    if artefact.thresholds is not None:
        (rule,) = words().page["thresholds of ratings"]
        text = rule.format(signs=SIGN_LEGEND, **artefact.thresholds.model_dump())
        blocks.append(Text(text, "legend"))
    blocks += [Text(artefact.remark)] if artefact.remark else []
    if choice := artefact.choice:
        made = f"The paper leaves a choice open; we made the choice {choice.when} we had seen a"
        blocks.append(Text(f"{made} result: {choice.what}.", "legend"))
    if more := figures[1:]:
        blocks.append(
            Section(f"{counted(len(more), 'more figure')} of single runs", more, folded=True)
        )
    return Section(f"{artefact.where}: {artefact.title}", blocks, name, "group")


def _said(result: PaperResult, artefact: Artefact) -> Iterator[Text]:
    """Yield the claims about a figure, with their verdicts."""
    lines = []
    for own, over in both(result.of("claims", artefact.id)):
        verdicts = cell(badge(own, link=False))
        if own.differs:
            verdicts += Markup(", over re-splits {}").format(cell(badge(over, link=False)))
        link = Markup('{}: <a href="#claim-{}-{}">{}</a>')
        lines.append(link.format(verdicts, result.paper.name, own.id, own.text))
    if lines:
        yield Text(lines)


def _grid(result: PaperResult, item: ArtefactRuns, table: pd.DataFrame) -> Grid:
    """Return the printed numbers and ours, in the paper's own form if it has one."""
    views = shown_views(table)
    if has_own_form(table, item.artefact):
        frame = own_form(table, item.artefact, notes=False)
        items, details = [], []
        for name, group in own_groups(table):
            about = remarks(group, views)
            items.append(_items(result, group))
            details.append([f"{name}: {counted(len(about), 'note')}", *about] if about else [])
        left = tuple(frame.columns)
        return Grid(frame, left=left, grouped=True, items=items, details=details)
    frame, pairs = number_table(table), [*both(table)]
    notes = zip(pairs, frame["notes"], strict=True)
    first = [(own.text, *filter(None, (own.remark, note))) for (own, _), note in notes]
    for _, heading in views:
        ours, apart = frame[f"ours, {heading}"], frame.pop(f"difference, {heading}")
        frame[f"ours, {heading}"] = [*zip(ours, apart, strict=True)]
    frame[""] = first
    frame.insert(1, "where", [own.where for own, _ in pairs])
    rows = [[*dict.fromkeys(filter(None, (own.rows, over.rows)))] for own, over in pairs]
    return Grid(
        frame.drop(columns=["notes", "reason"]),
        left=("where", *(f"verdict, {heading}" for _, heading in views)),
        items=[_items(result, group) for _, group in table.groupby("id", sort=False)],
        details=[["rows of the trial logs", *each] if each else [] for each in rows],
    )


def _differences(result: PaperResult) -> pd.DataFrame:
    """Return the numbers, ratings and claims on which ours differs from the paper's, with why."""
    where = {item.artefact.id: item.artefact.where for item in result.artefacts}
    records = []
    for own, over in both(result.verdicts[result.verdicts["same_as"] == ""]):
        seen = [row.verdict for row in (own, over)]
        judged = [each for each in seen if each in (*_JUDGED, *DECIDED)]
        missed = any(look_of(each) == "bad" or each == "uninformative" for each in seen)
        if own.kind in ("numbers", "claims") and (missed or len(set(judged)) > 1):
            shown = [(with_n(row), badge(row)) for row in (own, over)]
            place = f"{where[own.artefact]}: {own.text}"
            records.append([place, own.printed, *shown, own.reason])
    heads = ["", "printed", *HEADINGS.values(), "reason"]
    return pd.DataFrame(records, columns=heads)


# -- the glossary ----------------------------------------------------------------------------------


def _glossary() -> Section:
    line = Markup('<dt id="{}">{}</dt><dd>{}</dd>')
    lines = [
        line.format(anchor(name), cell(verdict_badge(name, link=False)), word.means)
        for name, word in words().verdicts.items()
    ]
    frame = glossary_table()
    blocks = [
        *_texts("counting"),
        Text(Markup('<dl class="words">{}</dl>').format(Markup().join(lines))),
        *_texts("thresholds"),
        text_grid(frame, "The papers' words as thresholds"),
        *_texts("units"),
    ]
    return Section("Glossary: the verdicts", blocks, "reading")
