"""Pivots of the table of verdicts: as data (CSV), for readers, and in the papers' own form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from ddr_cli.comparison.names import number
from ddr_cli.papers.claims import DECIDED, ClaimVerdict
from ddr_cli.papers.lookup import HEADINGS, VIEWS, View
from ddr_cli.papers.marks import MEDIAN_NAMES
from ddr_cli.papers.numbers import Verdict
from ddr_cli.papers.schema import Artefact, NumberRule, Paper, Term, glossary
from ddr_cli.papers.verdicts import both, term_name, through, with_n
from ddr_cli.papers.words import badge

CALIBRATION = "calibration"
ALONE = "hold alone"
"""The number of claims that hold over re-splits without Holm's correction."""

_ALWAYS_COUNTED = ("reproduced", "differs (higher)", "differs (lower)", "holds", "fails")
_AGREED = ("reproduced", "not testable", "not run", "not applicable")

# -- counts ----------------------------------------------------------------------------------------


def counts(table: pd.DataFrame, what: str, view: View) -> Counter[str]:
    """Return how often each verdict was given to a number or rating, or to a claim.

    A printed number counts once: repetitions of it, and other interpretations, are shown but not
    counted. Results that were used to choose an interpretation count as calibration.
    """
    kinds = ["claims"] if what == "claims" else ["numbers", "artefacts"]
    own = table[table["kind"].isin(kinds) & (table["view"] == view)]
    own = own[(own["reading"] == "") & (own["same_as"] == "")]
    found = Counter(own["verdict"].where(own["counted"], CALIBRATION))
    if what == "claims":
        found[ALONE] = found["holds"] + int(own["alone"].sum())
    return +found


def count_tables(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """Yield the counts of the verdicts on printed numbers and ratings, then on claims.

    The index has the papers' names as shown, and its name states which of the two is counted; the
    columns are the verdicts that occur, and the most common ones; a cell is the paper's setting /
    re-splits.
    """
    for kind, verdicts in (
        ("printed numbers and ratings", get_args(Verdict)),
        ("claims", get_args(ClaimVerdict)),
    ):
        own = [table[table["paper"] == name] for name in names]
        found = [[counts(each, kind, view) for view in VIEWS] for each in own]
        given = set(_ALWAYS_COUNTED).union(*(each for pair in found for each in pair))
        shown = [name for name in (*verdicts, CALIBRATION, ALONE) if name in given]
        rows = [[f"{own[name]} / {over[name]}" for name in shown] for own, over in found]
        yield pd.DataFrame(rows, index=pd.Index([*names.values()], name=kind), columns=shown)


def totals(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often each verdict was given to a paper's claims and numbers, in each view."""
    order = dict.fromkeys((*get_args(Verdict), *get_args(ClaimVerdict), CALIBRATION))
    records = []
    for what in ("claims", "printed numbers"):
        record = {"": what}
        for view, heading in HEADINGS.items():
            found = counts(table, what, view)
            record[heading] = ", ".join(f"{name}: {found[name]}" for name in order if found[name])
        records.append(record)
    return pd.DataFrame(records)


# -- a row per printed number or rating ------------------------------------------------------------


def number_data(table: pd.DataFrame) -> pd.DataFrame:
    """Return the printed numbers of an artefact next to ours, with full precision."""
    facts = ["id", "row", "column", "where", "reading", "same_as", "metric"]
    facts += ["printed", "printed_sd"]
    seen = ["split", "n", "mean", "sd", "difference", "monte_carlo_error", "setting"]
    last = ["claims", "reason"]
    table = table.assign(
        id=table["id"].str.partition(".")[2],
        printed=table["printed_value"],
        monte_carlo_error=table["error"],
        note=table["note"].where(table["mean"].notna(), table["ours"]),
    )
    timed = table["than"] != ""
    if timed.any():
        table["fit_seconds_than"] = table["than"]
        table["printed_fit_seconds_ratio"] = table["printed_ratio"].where(timed)
        table["fit_seconds_ratio"] = table["ratio"].where(timed)
        last += ["fit_seconds_than", "printed_fit_seconds_ratio", "fit_seconds_ratio"]
    return _wide(table, facts, seen, last)


def mark_data(table: pd.DataFrame) -> pd.DataFrame:
    """Return ratings next to ours, with the medians in full precision."""
    facts = ["row", "column", "reading", "printed"]
    data = _wide(
        table.assign(printed=table["printed_mark"]), facts, ["mark", "n", *MEDIAN_NAMES], ["reason"]
    )
    medians = [f"{view}_{name}" for view in VIEWS for name in MEDIAN_NAMES]
    return data.drop(columns=[name for name in medians if data[name].isna().all()])


def _wide(table: pd.DataFrame, facts: list[str], seen: list[str], last: list[str]) -> pd.DataFrame:
    """Return a row per entry: the facts, what is seen in each view, and the last columns."""
    table = table.assign(reason=_reasons(table))
    own, over = (table[table["view"] == view].reset_index(drop=True) for view in VIEWS)
    seen = [*seen, "verdict", "counted", "note"]
    views = [own[seen].add_prefix("own_"), over[seen].add_prefix("resplits_")]
    return pd.concat([own[facts], *views, own[last]], axis=1)


def _reasons(table: pd.DataFrame) -> pd.Series[str]:
    """Return why ours differs, empty where nothing differs."""
    differs = ~table["verdict"].isin(_AGREED)
    return table["reason"].where(differs.groupby(table["id"]).transform("any"), "")


def number_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers for readers: printed, ours with its standard deviation and n, verdict."""
    views, reasons = shown_views(table), _reasons(table)
    records = []
    for own, over in both(table):
        record = {"": own.text, "printed": own.printed}
        for view, heading in views:
            seen = own if view == "own" else over
            record[f"ours, {heading}"] = with_n(seen)
            record[f"difference, {heading}"] = seen.apart
            record[f"verdict, {heading}"] = badge(seen)
        record["notes"] = "; ".join([*_notes(own, over, views), *own.said.splitlines()])
        record["reason"] = reasons[own.Index]
        if (table["than"] != "").any():
            for which, ratio in (("printed", own.printed_ratio), ("ours", own.ratio)):
                text = f"{ratio_text(ratio)} {own.than}" if own.than else ""
                record[f"training time, {which}"] = text
        records.append(record)
    return pd.DataFrame(records)


def ratio_text(ratio: float) -> str:
    """Return a ratio to two digits, such as ``140 x`` or ``0.35 x``."""
    return "–" if np.isnan(ratio) else f"{float(f'{ratio:.2g}'):.10g} ×"


def shown_views(table: pd.DataFrame) -> list[tuple[View, str]]:
    """Return the views to show and their headings.

    One view is enough if the paper's own setting is random splits, or if there are none.
    """
    pairs = [*both(table)]
    if pairs and all(over.verdict == "not applicable" for _, over in pairs):
        return [("own", "all samples")]
    splits = [(own.split, over.split) for own, over in pairs if own.split and over.split]
    if splits and all(own == over for own, over in splits):
        return [("own", "random splits")]
    return list(HEADINGS.items())


def _notes(own: Any, over: Any, views: Sequence[tuple[View, str]]) -> list[str]:
    """Return which method the difference favours and whether the row is trivial, in each view."""
    notes = {heading: (own if view == "own" else over).note for view, heading in views}
    if len(set(notes.values())) == 1:
        notes = {"": next(iter(notes.values()))}
    return [f"{heading}: {note}" if heading else note for heading, note in notes.items() if note]


# -- the paper's own form --------------------------------------------------------------------------


def has_own_form(table: pd.DataFrame, artefact: Artefact) -> bool:
    """Return whether every printed number has a place in a table with several columns."""
    if artefact.kind == "marks":
        return True
    is_placed = ((table["row"] != "") & (table["column"] != "")).all()
    return artefact.kind == "table" and bool(is_placed) and table["column"].nunique() > 1


def own_form(table: pd.DataFrame, artefact: Artefact, *, notes: bool = True) -> pd.DataFrame:
    """Return an artefact's table in the paper's form: a row per line of a group, and `notes`."""
    columns = list(dict.fromkeys(table["column"]))
    views = shown_views(table)
    found = []
    for name, group in own_groups(table):
        lines = _mark_lines if artefact.kind == "marks" else _number_lines
        for place, (line, cells) in enumerate(lines(group, views)):
            found.append([name if not place else "", line, *(cells.get(c, "") for c in columns)])
        rest = [""] * (len(columns) - 1)
        found += [["", "note", text, *rest] for text in remarks(group, views) if notes]
    return pd.DataFrame(found, columns=["", " ", *columns])


def own_groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of the paper's table, each interpretation separately, with their names."""
    for (row, reading), group in table.groupby(["row", "reading"], sort=False):
        yield f"{row} ({reading})" if reading else str(row), group


def remarks(group: pd.DataFrame, views: Sequence[tuple[View, str]]) -> list[str]:
    """Return notes, claims and reasons, each once, with the columns that they are about."""
    about: dict[str, list[str]] = {}
    general: list[str] = []
    reasons = _reasons(group)
    for own, over in both(group):
        general += [*filter(None, [own.remark]), *own.said.splitlines()]
        for note in _notes(own, over, views) if own.metric else ():
            about.setdefault(f": {note}", []).append(own.column)
        if reason := reasons[own.Index]:
            about.setdefault(f", reason: {reason}", []).append(own.column)
    specific = [f"{', '.join(columns)}{text}" for text, columns in about.items()]
    return [*dict.fromkeys(general), *specific]


_Line = tuple[str, Mapping[Any, object]]
"""The name of a line, and its cell in each column."""


def _number_lines(group: pd.DataFrame, views: Sequence[tuple[View, str]]) -> Iterator[_Line]:
    first = group[group["view"] == "own"].set_index("column")
    if first["printed_value"].notna().any():
        yield "printed", first["printed"].to_dict()
    for view, heading in views:
        seen = {row.column: row for row in through(group, view)}
        # If all means are over the same number of splits, the line's name contains it.
        sizes = {row.n for row in seen.values() if row.n > 0}
        n = sizes.pop() if len(sizes) == 1 else None
        line = f"ours, {heading}" if n in (None, 1) else f"ours, {heading}, n = {n:g}"
        yield line, {name: row.ours if n else with_n(row) for name, row in seen.items()}
        yield "verdict", {name: badge(row) for name, row in seen.items()}
        if any(row.apart for row in seen.values()):
            yield f"difference, {heading}", {name: row.apart for name, row in seen.items()}
    yield from _time_lines(first[first["ratio"].notna() | (first["than"] != "")])


def _time_lines(timed: pd.DataFrame) -> Iterator[_Line]:
    if other := next(filter(None, timed["than"]), ""):
        for which, column in (("printed", "printed_ratio"), ("ours", "ratio")):
            texts = timed[column].map(ratio_text).where(timed["than"] != "", "1")
            yield f"training time relative to {other}, {which}", texts.to_dict()


def _mark_lines(group: pd.DataFrame, views: Sequence[tuple[View, str]]) -> Iterator[_Line]:
    printed = {row.column: row for row in through(group, "own") if row.printed_mark}
    yield "printed", {name: row.printed.split()[0] for name, row in printed.items()}
    for view, heading in views:
        seen = {row.column: row for row in through(group, view)}
        signs = {name: row.ours.split()[0] if row.mark else row.note for name, row in seen.items()}
        yield f"ours, {heading}", signs
        yield "verdict", {name: badge(row) for name, row in seen.items()}
        rated = {name: row for name, row in seen.items() if row.mark}
        for metric, words in MEDIAN_NAMES.items():
            yield words, {name: number(getattr(row, metric), metric) for name, row in rated.items()}


# -- claims and the glossary -----------------------------------------------------------------------


def claim_table(table: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Return the claims of a paper, each followed by its sub-claims, with verdicts and numbers."""
    when = "before or after the result"
    records = []
    for own, over in both(table[table["kind"].isin(["claims", "parts"])]):
        is_part = own.kind == "parts"
        choice = paper.artefact(own.artefact).choice
        settled = f"{choice.when} the result" if choice else "the paper leaves no setting open"
        missed = own.verdict in DECIDED and "fails" in (own.verdict, over.verdict)
        records.append(
            {
                "claim": own.claim,
                "sub-claim": own.id if is_part else "",
                "where": own.where,
                "text": own.text,
                "interpretation": own.reading if is_part else "",
                "threshold": own.threshold,
                f"threshold fixed {when}": own.fixed,
                f"interpretation chosen {when}": settled if is_part else "",
                "the paper's setting": own.shown,
                "numbers": own.ours,
                "re-splits": over.shown,
                "numbers over re-splits": over.ours,
                "p": "" if np.isnan(over.p) or over.verdict == "fails" else f"{over.p:.2g}",
                "reason": own.reason if missed else "",
            }
        )
    return pd.DataFrame(records)


def glossary_table() -> pd.DataFrame:
    """Return the glossary: the papers' words as thresholds, and the time they were fixed."""
    rule, terms = glossary().numbers, glossary().terms
    numbers = rule.model_dump(include={"rate_band", "dimension_band", "trivial"})

    def record(name: str, own: Mapping[str, float], rule: NumberRule | Term) -> dict[str, str]:
        return {
            "word": term_name(name),
            "meaning": rule.means,
            "thresholds": ", ".join(f"{key.replace('_', ' ')} {own[key]:g}" for key in own),
            "fixed at (UTC)": f"{rule.fixed:%Y-%m-%d %H:%M}",
            "earlier meaning": rule.was or "",
        }

    records = [record(name, term.set, term) for name, term in terms.items()]
    return pd.DataFrame([record("reproduced, close", numbers, rule), *records])
