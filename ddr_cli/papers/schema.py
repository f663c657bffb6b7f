"""The models of a paper's file, one YAML per paper: its reference, artefacts and claims.

Nothing here is computed from results. A printed number or mark names the row of our own results
that answers it by a selector; a claim names a predicate over such rows. `ddr_cli.verdicts` looks
the rows up and judges both. Values are in the metric's own unit: an error rate of 0.09 is 9 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import Field, model_validator

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.validation import Frozen, validated
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.papers.predicates import Predicate

_FOLDER = Path(__file__).resolve().parent

# -- which rows of our own results are meant ------------------------------------------------------


class Near(Frozen):
    """A place on a grid: the value closest to `near`, by ratio where all are positive."""

    near: float


class MethodSelector(Frozen):
    """A method of a run: a reducer in one of its settings.

    `spec` is one of the artefact's, by default the first. `label` is that of the reducer's item in
    the spec, which is easier than its parameters where several items of one reducer stand there.
    `params` holds dotted parameters (``reducer.beta``) with their values.
    """

    spec: str | None = None
    reducer: str
    label: Annotated[str, MinLen(1)] | None = None
    params: dict[str, Near | bool | int | float | str | None] = Field(default_factory=dict)


class Selector(MethodSelector):
    """Which row, or which series of rows, of a run's summary is meant.

    `classifier` is the name of a classifier or of a measure. Of several rows `pick` "only" accepts
    none; "best" takes the best mean, which is what a table of best cases over a tuning grid prints.
    """

    classifier: str
    pick: Literal["only", "best"] = "only"


# -- what a paper prints: numbers with their spread and time, and marks of good and bad -------


class Quantity(Frozen):
    """A number as the paper prints it: ``9.65 %`` in a file has value 0.0965."""

    value: float
    text: str

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            number, percent, rest = value.partition("%")
            try:
                read = float(number)
            except ValueError:
                rest = number
            if rest.strip():
                raise ValueError(f"'{value}' is not a number as printed, such as 9.65 % or 0.086")
            # Rounded to undo what dividing by 100 adds, so that 9.65 % is 0.0965 to the digit.
            return {"value": round(read / 100, 12) if percent else read, "text": value.strip()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            return {"value": float(value), "text": f"{value:g}"}
        return value


class Seconds(Frozen):
    """A printed training time in seconds per run.

    Machines differ, so that only ratios compare: `than` is the select of the printed number, of the
    same artefact, whose time this one is divided by; None for that one itself.
    """

    value: Annotated[float, Ge(0)]
    than: Selector | None = None


class PrintedNumber(Frozen):
    """One number that the paper prints, or one of ours in a place where it prints none.

    `row` and `column` are its place in a printed table, `where` says so for a reader; without a
    `value` the verdict is "unverifiable". `tolerance` is how far ours may be off, for metrics that
    are no rates; None is the rule for rates. `reading` says which of several readings of the paper
    the entry follows, `remark` what is known of why ours differs.
    """

    id: str
    row: str | None = None
    column: str | None = None
    select: Selector
    metric: str = "error"
    value: Quantity | None = None
    sd: Quantity | None = None
    seconds: Seconds | None = None
    tolerance: Annotated[float, Gt(0)] | None = None
    where: str
    reading: str | None = None
    remark: str | None = None

    @model_validator(mode="after")
    def _spread_has_a_value(self) -> Self:
        if self.value is None and (self.sd is not None or self.tolerance is not None):
            raise ValueError("'sd' and 'tolerance' go with a printed 'value', which is missing")
        return self


Kept = Literal["both", "separable", "multimodal", "neither"]
"""What an embedding keeps: classes apart, the sub-classes of a merged class apart, or both."""


class TableMark(Frozen):
    """One mark of a table of marks, in the row of a method and the column of a data set.

    `printed` is what the paper says that the embedding keeps; None where it says nothing. The run
    must have measured the method with every measure of the thresholds.
    """

    row: Annotated[str, MinLen(1)]
    column: Annotated[str, MinLen(1)]
    printed: Kept | None = None
    select: MethodSelector
    reading: str | None = None
    remark: str | None = None

    @property
    def id(self) -> str:
        """Its place as a name, unique in its artefact."""
        place = f"{self.row}, {self.column}"
        return f"{place} ({self.reading})" if self.reading else place


class Thresholds(Frozen):
    """From which median over the repeats on an embedding has a property, for every method alike.

    Separable is from a leave-one-out accuracy, as a share of that in the original space;
    multimodality is kept from a silhouette of the hidden sub-classes, or a leave-one-out accuracy
    on them.
    """

    separability: Annotated[float, Gt(0), Le(1)]
    silhouette: Annotated[float, Ge(-1), Le(1)]
    subclass_accuracy: Annotated[float, Gt(0), Le(1)]


# -- a paper --------------------------------------------------------------------------------------


class Artefact(Frozen):
    """One table or figure of the paper, made of the results of `specs`, the main one first.

    Its `id` is as in the ``paper:`` entry of a spec, such as ``fig2``; `where` is its name in the
    paper. A table all of whose numbers have a row and a column is shown as the paper's matrix; a
    table of marks always is.
    """

    id: str
    title: str
    where: str
    kind: Literal["curve", "table", "embedding", "marks"]
    specs: Annotated[tuple[str, ...], MinLen(1)]
    asked: str
    printed: tuple[PrintedNumber, ...] = ()
    marks: tuple[TableMark, ...] = ()
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
    def _has_what_its_kind_needs(self) -> Self:
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

    `select` is the row it speaks of or, for predicates along a grid, the series that the swept
    parameter `along` orders; `than` is what it is compared with. `remark` says why it fails, as far
    as known, or how its words were turned into numbers.
    """

    id: str
    artefact: str
    sentence: str
    where: str
    select: Selector
    along: str | None = None
    metric: str = "error"
    predicate: Annotated[Predicate, Field(discriminator="name")]
    than: Selector | None = None
    remark: str | None = None

    @model_validator(mode="after")
    def _has_what_its_predicate_needs(self) -> Self:
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
    """A paper: what it asks, how we read its protocol, its artefacts and claims.

    Its `name` is that of the file and as in the ``paper:`` entry of a spec, `short` that in
    headings.
    """

    name: str
    short: str
    reference: Reference
    asked: str
    reading: str
    artefacts: Annotated[tuple[Artefact, ...], MinLen(1)]
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _names_fit_together(self) -> Self:
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
        raise ValueError(f"'{owner}' selects from '{selector.spec}', not a spec of '{artefact.id}'")


def paper_names() -> list[str]:
    """Return the names of all papers, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


@cache
def load_paper(name: str) -> Paper:
    """Return the paper called `name`; an `InputError` names what is wrong with it, and where."""
    if name not in paper_names():
        raise InputError(
            f"Unknown paper '{name}'.{did_you_mean(name, paper_names())} "
            f"Known: {', '.join(paper_names())}."
        )
    return read_paper(_FOLDER / f"{name}.yaml")


def read_paper(path: Path) -> Paper:
    """Return the paper in the file at `path`; see `load_paper`."""
    paper = validated(read_document(path), Paper, "a paper")
    if paper.name != path.stem:
        raise InputError(f"{path.name} must have `name: {path.stem}` (found `name: {paper.name}`).")
    return paper
