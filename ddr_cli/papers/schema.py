"""The models of a paper's file: its reference, artefacts, printed numbers and claims.

Nothing here is computed from results. A printed number names the row of our own results that
answers it by a `Selector`; a claim names a predicate (see `ddr_cli.papers.predicates`) over such
rows. `ddr_cli.report` evaluates both.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Gt, MinLen
from pydantic import Field, model_validator

from ddr_cli.core.models import Frozen
from ddr_cli.papers.predicates import Predicate


class Near(Frozen):
    """A place on a grid: the value closest to `near`, by ratio where all are positive."""

    near: float


Wanted = Near | bool | int | float | str | None


class Selector(Frozen):
    """Which row, or which series of rows, of a run's summary is meant.

    Parameters
    ----------
    spec : str or None
        The run it is taken from, one of the artefact's `specs`; None is the first of them.
    reducer, classifier : str
        Their names as in a spec.
    params : mapping of str to value
        Dotted parameters (``reducer.beta``) and the values wanted; ``{near: 0.5}`` takes the
        closest value on the grid.
    pick : {"only", "best"}
        What to do with several rows: "only" accepts none but a single one, "best" takes the one
        with the best mean, which is what a table of best cases over a tuning grid prints.
    """

    spec: str | None = None
    reducer: str
    classifier: str
    params: dict[str, Wanted] = Field(default_factory=dict)
    pick: Literal["only", "best"] = "only"


def _read_quantity(value: Any) -> Any:
    """Turn ``9.65 %`` into value and text; a bare number is its own text."""
    if isinstance(value, str):
        number, percent, rest = value.partition("%")
        try:
            read = float(number)
        except ValueError:
            rest = number
        if rest.strip():
            raise ValueError(f"'{value}' is no number as printed, such as 9.65 % or 0.086")
        # Rounded to undo what dividing by 100 adds, so that 9.65 % is 0.0965 to the digit.
        return {"value": round(read / 100, 12) if percent else read, "text": value.strip()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"value": float(value), "text": f"{value:g}"}
    return value


class Quantity(Frozen):
    """A number as the paper prints it: ``9.65 %`` in a file has value 0.0965."""

    value: float
    text: str

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return _read_quantity(value)


class Printed(Frozen):
    """One number that the paper prints.

    Parameters
    ----------
    id : str
        Unique in its artefact.
    row, column : str or None
        Its place in a printed table.
    select : Selector
        The row of ours that stands beside it.
    metric : str
        The metric it is a value of.
    value : Quantity
        As printed, such as ``9.65 %`` or ``0.086``.
    sd : Quantity or None
        The printed standard deviation.
    tolerance : float or None
        How far ours may be off before the verdict is no longer "reproduced", for metrics that
        are no rates; None is the rule for rates, one percentage point.
    where : str
        Section, table or figure, and page where it helps.
    reading : str or None
        Which of several readings of the paper this entry follows.
    remark : str or None
        What is known of why ours differs.
    """

    id: str
    row: str | None = None
    column: str | None = None
    select: Selector
    metric: str = "error"
    value: Quantity
    sd: Quantity | None = None
    tolerance: Annotated[float, Gt(0)] | None = None
    where: str
    reading: str | None = None
    remark: str | None = None


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
    kind : {"curve", "table", "embedding"}
        What it is.
    specs : tuple of str
        The specs whose results make it, the main one first.
    asked : str
        What the paper asks with it, in a sentence or two.
    printed : tuple of Printed
        The numbers that the paper prints or quotes.
    remark : str or None
        What a reader should know of the artefact as a whole.
    """

    id: str
    title: str
    where: str
    kind: Literal["curve", "table", "embedding"]
    specs: Annotated[tuple[str, ...], MinLen(1)]
    asked: str
    printed: tuple[Printed, ...] = ()
    remark: str | None = None


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
            _refuse_repeats(f"number in {artefact.id}", [item.id for item in artefact.printed])
            for item in artefact.printed:
                _refuse_foreign_spec(f"{artefact.id}.{item.id}", item.select, artefact)
        for claim in self.claims:
            if claim.artefact not in by_id:
                raise ValueError(f"claim '{claim.id}' names no artefact: '{claim.artefact}'")
            for selector in (claim.select, claim.than):
                if selector is not None:
                    _refuse_foreign_spec(claim.id, selector, by_id[claim.artefact])
        return self

    def artefact(self, name: str) -> Artefact:
        """Return the artefact called `name` (KeyError if there is none)."""
        return {artefact.id: artefact for artefact in self.artefacts}[name]


def _refuse_repeats(kind: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{kind} given twice: {', '.join(repeated)}")


def _refuse_foreign_spec(owner: str, selector: Selector, artefact: Artefact) -> None:
    if selector.spec is not None and selector.spec not in artefact.specs:
        raise ValueError(f"'{owner}' selects from '{selector.spec}', no spec of '{artefact.id}'")
