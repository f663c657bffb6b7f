"""The models of a paper's file: its reference, artefacts and claims.

Nothing here is computed from results. A printed number (see `ddr_cli.papers.printed`) names the row
of our own results that answers it by a `Selector`; a claim names a predicate (see
`ddr_cli.papers.predicates`) over such rows. `ddr_cli.report` evaluates both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import MinLen
from pydantic import model_validator

from ddr_cli.core.models import Frozen
from ddr_cli.papers.predicates import Predicate
from ddr_cli.papers.printed import Printed, PrintedMark, Thresholds
from ddr_cli.papers.selectors import MethodSelector, Selector


class Artefact(Frozen):
    """One table or figure of the paper.

    Parameters
    ----------
    id : str
        As in the ``paper:`` entry of a spec, such as ``fig2``.
    title : str
        What it shows.
    where : str
        Its name in the paper, such as "Fig. 2".
    kind : {"curve", "table", "embedding", "marks"}
        What it is. A table all of whose numbers have a row and a column is shown as the paper's
        matrix; a table of marks always is.
    specs : tuple of str
        The specs whose results make it, the main one first.
    asked : str
        What the paper asks with it, in a sentence or two.
    printed : tuple of Printed
        The numbers that the paper prints or quotes.
    marks : tuple of PrintedMark
        The signs of a table of marks.
    thresholds : Thresholds or None
        How our own marks are given, for the kind marks.
    remark : str or None
        What a reader should know of the artefact as a whole.
    """

    id: str
    title: str
    where: str
    kind: Literal["curve", "table", "embedding", "marks"]
    specs: Annotated[tuple[str, ...], MinLen(1)]
    asked: str
    printed: tuple[Printed, ...] = ()
    marks: tuple[PrintedMark, ...] = ()
    thresholds: Thresholds | None = None
    remark: str | None = None

    @property
    def is_matrix(self) -> bool:
        """Whether every printed number has a place in a table of several columns."""
        return (
            self.kind == "table"
            and all(item.row and item.column for item in self.printed)
            and len({item.column for item in self.printed}) > 1
        )

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Artefact:
        if self.kind == "marks" and not (self.marks and self.thresholds):
            raise ValueError(f"'{self.id}' is of the kind marks and needs 'marks' and 'thresholds'")
        if self.kind != "marks" and (self.marks or self.thresholds):
            raise ValueError(f"'{self.id}' has marks, so its kind must be marks, not {self.kind}")
        timed = [item.select for item in self.printed if item.seconds]
        for item in self.printed:
            if item.seconds and item.seconds.than and item.seconds.than not in timed:
                raise ValueError(
                    f"'{self.id}.{item.id}' compares its seconds with a row of ours that stands "
                    "beside no printed time of this artefact; repeat that number's select in 'than'"
                )
        return self

    def selectors(self) -> Iterator[tuple[str, MethodSelector]]:
        """Yield the name and the selector of each printed number and mark."""
        yield from ((item.id, item.select) for item in self.printed)
        yield from ((item.id, item.select) for item in self.marks)


class Claim(Frozen):
    """A sentence of the paper as a predicate over our results.

    Parameters
    ----------
    id : str
        Unique in the paper.
    artefact : str
        The artefact whose results decide it.
    sentence : str
        The paper's words, quoted or in short.
    where : str
        Section and page.
    select : Selector
        The row or, for predicates along a grid, the series it speaks of.
    along : str or None
        The swept parameter that orders the series, such as ``reducer.beta``.
    metric : str
        The metric it speaks of.
    predicate : Predicate
        The test, by name with its parameters.
    than : Selector or None
        What it is compared with, where the predicate compares.
    remark : str or None
        What is known of why it fails, or how its words were turned into numbers.
    """

    id: str
    artefact: str
    sentence: str
    where: str
    select: Selector
    along: str | None = None
    metric: str = "error"
    predicate: Predicate
    than: Selector | None = None
    remark: str | None = None

    @model_validator(mode="after")
    def _has_what_its_predicate_needs(self) -> Claim:
        if self.predicate.needs_grid and self.along is None:
            raise ValueError(f"the predicate '{self.predicate.name}' needs 'along'")
        if self.predicate.compares and self.than is None:
            raise ValueError(f"the predicate '{self.predicate.name}' needs 'than'")
        return self


class Reference(Frozen):
    """Where the paper was published."""

    authors: Annotated[tuple[str, ...], MinLen(1)]
    title: str
    year: int
    venue: str


class Paper(Frozen):
    """A paper: its reference, what it asks, its artefacts and claims.

    Parameters
    ----------
    name : str
        As in the ``paper:`` entry of a spec and the name of the file.
    short : str
        Its name in headings.
    reference : Reference
        Where it was published.
    asked : str
        The paper's question, in a few sentences.
    reading : str
        How the project reads its protocol where the text leaves a choice.
    artefacts, claims : tuple
        See `Artefact` and `Claim`.
    """

    name: str
    short: str
    reference: Reference
    asked: str
    reading: str
    artefacts: Annotated[tuple[Artefact, ...], MinLen(1)]
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _names_fit_together(self) -> Paper:
        by_id = {artefact.id: artefact for artefact in self.artefacts}
        _refuse_repeats("artefact", [artefact.id for artefact in self.artefacts])
        _refuse_repeats("claim", [claim.id for claim in self.claims])
        for artefact in self.artefacts:
            selectors = list(artefact.selectors())
            _refuse_repeats(f"entry in {artefact.id}", [name for name, _ in selectors])
            for name, selector in selectors:
                _refuse_foreign_spec(f"{artefact.id}.{name}", selector, artefact)
        for claim in self.claims:
            if claim.artefact not in by_id:
                raise ValueError(f"claim '{claim.id}' names no artefact: '{claim.artefact}'")
            for meant in (claim.select, claim.than):
                if meant is not None:
                    _refuse_foreign_spec(claim.id, meant, by_id[claim.artefact])
        return self

    def artefact(self, name: str) -> Artefact:
        """Return the artefact called `name` (KeyError if there is none)."""
        return {artefact.id: artefact for artefact in self.artefacts}[name]


def _refuse_repeats(kind: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{kind} given twice: {', '.join(repeated)}")


def _refuse_foreign_spec(owner: str, selector: MethodSelector, artefact: Artefact) -> None:
    if selector.spec is not None and selector.spec not in artefact.specs:
        raise ValueError(f"'{owner}' selects from '{selector.spec}', no spec of '{artefact.id}'")
