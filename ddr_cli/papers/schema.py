"""The content of a paper's file and of the glossary: references, artefacts, numbers and claims.

Nothing here is computed from results. A printed number or rating names, by a selector, the row of
our own results that it is compared with. A claim quotes the paper; its sub-claims are predicates on
such rows. Values are in the metric's own unit: an error rate of 0.09 is 9 %. ``glossary.yaml``
defines words such as "much" as thresholds, the same for all papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AfterValidator, Field, model_validator

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.registry import paper_files
from ddr_cli.core.validation import Frozen, validated
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.papers.predicates import AnyPredicate, Compares, OnGrid
from ddr_cli.papers.questions import MethodSelector, Near, Selector, Swap

OneLine = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]

# -- the glossary ---------------------------------------------------------------------------------


class _Rule(Frozen):
    """The meaning of a rule, the time at which it was fixed, and what it `was` before."""

    means: OneLine
    fixed: datetime
    was: OneLine | None = None


class NumberRule(_Rule):
    """The tolerance of a close number; `trivial` is a negligible margin over the majority class."""

    rate_band: Annotated[float, Gt(0)]
    dimension_band: Annotated[float, Gt(0)]
    trivial: Annotated[float, Ge(0)]


class Term(_Rule):
    """A word with its predicate and thresholds."""

    predicate: str
    set: dict[str, float] = Field(default_factory=dict)


class Glossary(Frozen):
    """The words of all papers; `seen` has the time at which the first result of a spec was seen."""

    numbers: NumberRule
    terms: dict[str, Term]
    seen: dict[str, datetime]


@cache
def glossary() -> Glossary:
    """Return the glossary."""
    path = Path(__file__).with_name("glossary.yaml")
    return validated(read_document(path), Glossary, "the glossary")


# -- what a paper prints: numbers with their spread and time, and marks of good and bad -------


class Quantity(Frozen):
    """A number as printed in the paper: ``9.65 %`` in a file has value 0.0965."""

    value: float
    text: str

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        exponent = Decimal(self.text.rstrip("% ")).as_tuple().exponent
        unit = 10.0 ** int(exponent) / (100 if "%" in self.text else 1)
        return unit / 2

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            number, percent, rest = value.partition("%")
            try:
                read = float("" if rest.strip() else number)
            except ValueError:
                message = f"'{value}' is not a number as printed, such as 9.65 % or 0.086"
                raise ValueError(message) from None
            # Rounding removes the error of the division, so 9.65 % is exactly the number 0.0965.
            return {"value": round(read / 100, 12) if percent else read, "text": value.strip()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            return {"value": float(value), "text": f"{value:g}"}
        return value


class Calibration(Frozen):
    """That a result was used to choose an interpretation, so that it is no evidence for it.

    `views` are the views in which it was used: with "own", the re-splits still count.
    """

    why: str
    views: Literal["own", "both"] = "both"


class Reason(Frozen):
    """The reason why ours differs, a statement that `shown_by` tests: a spec, a test or a card."""

    text: OneLine
    shown_by: str


class _Answered(Frozen):
    """What every entry may state: its basis, and whether it counts.

    `reading` names another interpretation of the paper than the main one, and `same_as` an entry
    (``table1.none-knn``) that is the same printed number or uses the same row of ours: both are
    shown but not counted.
    """

    reading: str | None = None
    same_as: str | None = None
    calibration: Calibration | None = None
    reason: Reason | None = None
    remark: str | None = None

    def is_counted(self, view: str) -> bool:
        """Return whether the verdict in a view counts."""
        calibrated = self.calibration is not None and self.calibration.views in (view, "both")
        return not (self.reading or self.same_as or calibrated)


class PrintedNumber(_Answered):
    """One number that the paper prints, or one of ours where the paper prints none.

    `row` and `column` are its place in a printed table; `where` describes the place for readers.
    Without a `value` the verdict is "not testable". `seconds` is the printed training time.
    Machines differ, so only ratios are compared: `seconds_than` is the id of the number whose time
    divides this one.
    """

    id: str
    row: str | None = None
    column: str | None = None
    select: Selector
    metric: str = "error"
    value: Quantity | None = None
    sd: Quantity | None = None
    seconds: Annotated[float, Ge(0)] | None = None
    seconds_than: str | None = None
    where: str

    @model_validator(mode="after")
    def _spread_has_a_value(self) -> Self:
        if self.value is None and self.sd is not None:
            raise ValueError("'sd' needs the key 'value'")
        if self.seconds is None and self.seconds_than is not None:
            raise ValueError("'seconds_than' needs the key 'seconds'")
        return self


Kept = Literal["both", "separable", "multimodal", "neither"]
"""The properties that an embedding preserves: separate classes, sub-classes, or both."""


class TableMark(_Answered):
    """One rating in a table of ratings, in the row of a method and the column of a data set.

    `printed` has the properties that the embedding preserves according to the paper; None if it
    gives no rating. The run must have measured the method with every measure of the thresholds.
    """

    row: Annotated[str, MinLen(1)]
    column: Annotated[str, MinLen(1)]
    printed: Kept | None = None
    select: MethodSelector

    @property
    def id(self) -> str:
        """Its place as a name, unique in its artefact."""
        place = f"{self.row}, {self.column}"
        return f"{place} ({self.reading})" if self.reading else place


class Thresholds(Frozen):
    """Thresholds for the properties of an embedding, on medians over repeats, for every method.

    Separability is the leave-one-out accuracy as a fraction of that in the original space;
    multimodality is preserved if the hidden sub-classes have at least this silhouette, or this
    leave-one-out accuracy.
    """

    separability: Annotated[float, Gt(0), Le(1)]
    silhouette: Annotated[float, Ge(-1), Le(1)]
    subclass_accuracy: Annotated[float, Gt(0), Le(1)]


# -- a paper --------------------------------------------------------------------------------------


class Reading(Swap):
    """Another interpretation of the paper, and its runs."""

    name: str
    what: str


class Choice(Frozen):
    """An interpretation of the paper, and whether it was chosen before a result was seen."""

    when: Literal["before", "after"]
    what: str


class Artefact(Frozen):
    """One table or figure of the paper, made of the results of `specs`, the main one first.

    Its `id` is as in the ``paper:`` entry of a spec, such as ``fig2``; `where` is its name in the
    paper. A table whose numbers all have a row and a column is shown like the paper's; a table of
    ratings always is. The kind "readings" contains runs that the paper does not have. `splits` is
    the number of splits over which the paper takes its means, None if it is not stated. `resplits`
    states which runs are used over re-splits if the main ones have none.
    """

    id: str
    title: str
    where: str
    kind: Literal["curve", "table", "embedding", "marks", "readings"]
    specs: Annotated[tuple[str, ...], MinLen(1)]
    asked: str
    printed: tuple[PrintedNumber, ...] = ()
    marks: tuple[TableMark, ...] = ()
    thresholds: Thresholds | None = None
    choice: Choice | None = None
    splits: Annotated[int, Ge(1)] | None = None
    resplits: Swap | None = None
    remark: str | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        if self.kind == "marks" and not (self.marks and self.thresholds):
            raise ValueError(f"'{self.id}' has `kind: marks`, so it needs 'marks' and 'thresholds'")
        if self.kind != "marks" and (self.marks or self.thresholds):
            raise ValueError(f"'{self.id}' has 'marks' or 'thresholds', so it needs `kind: marks`")
        timed = [item.id for item in self.printed if item.seconds is not None]
        for item in self.printed:
            if item.seconds_than not in (None, *timed):
                raise ValueError(
                    f"'seconds_than' of '{self.id}.{item.id}' is '{item.seconds_than}', but no "
                    f"entry of '{self.id}' with this id has 'seconds'."
                    f"{did_you_mean(str(item.seconds_than), timed)}"
                )
        return self

    @property
    def entries(self) -> tuple[PrintedNumber | TableMark, ...]:
        """All numbers and ratings that the paper prints here."""
        return (*self.printed, *self.marks)


def _places(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.near if isinstance(value, Near) else value for name, value in params.items()
    }


class _Said(_Answered):
    """Common fields of a claim and its sub-claims: a name, and the artefact whose runs are used."""

    id: str
    artefact: str


class Part(_Said):
    """One statement of a claim, as a predicate on our results.

    `select` is its row or, for predicates along a grid, the series over the swept parameter
    `along`; `than` is the row that it is compared with. Its predicate is a `term` of the glossary,
    with the grid values and levels that the claim prints; a threshold of its own needs a reason
    `why` it is not the glossary's. `written` is the time at which it got its present form.
    """

    what: str
    select: Selector
    along: str = ""
    metric: str = "error"
    term: str
    predicate: Annotated[AnyPredicate, Field(discriminator="name")]
    why: str | None = None
    than: Selector | None = None
    written: datetime

    @model_validator(mode="before")
    @classmethod
    def _look_the_term_up(cls, data: Any) -> Any:
        given = data.get("predicate") if isinstance(data, dict) else None
        given = {"term": given} if isinstance(given, str) else given
        if not isinstance(given, dict) or "term" not in given:
            return data
        name, terms = given["term"], glossary().terms
        if name not in terms:
            raise ValueError(f"the glossary has no term '{name}'.{did_you_mean(name, terms)}")
        term = terms[name]
        own = {key: value for key, value in given.items() if key not in ("term", "why")}
        if set(own) & set(term.set) and "why" not in given:
            raise ValueError(f"to change a threshold of '{name}', add the key 'why'")
        predicate = {"name": term.predicate, **term.set, **own}
        return {"why": given.get("why"), **data, "term": name, "predicate": predicate}

    @model_validator(mode="after")
    def _has_what_its_predicate_needs(self) -> Self:
        if isinstance(self.predicate, OnGrid) and not self.along:
            raise ValueError(f"a claim with the term '{self.term}' needs 'along'")
        if isinstance(self.predicate, Compares) and self.than is None:
            raise ValueError(f"a claim with the term '{self.term}' needs 'than'")
        return self

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """Its row, and the row that it is compared with, if there is one."""
        return (self.select,) if self.than is None else (self.select, self.than)

    def is_about(self, entry: PrintedNumber) -> bool:
        """Return whether its row is the one that a printed number of the same run selects."""
        at = getattr(self.predicate, "at", None)
        if self.along and at is None:
            return False
        params = self.select.params | ({self.along: at} if self.along else {})
        told = self.select.reducer, self.select.classifier, self.metric, _places(params)
        asked = entry.select
        return told == (asked.reducer, asked.classifier, entry.metric, _places(asked.params))

    @property
    def fixed(self) -> datetime:
        """The time at which its threshold got its present value."""
        return max(self.written, glossary().terms[self.term].fixed)


_SHARED = ("artefact", "metric", "along", "predicate", "select", "than", "written")


class Claim(_Said):
    """A claim of the paper, which holds if all its counted sub-claims hold.

    Its sub-claims inherit its `artefact` and the other fields in `_SHARED`, unless they state their
    own. `sentence` is in quotes if it is the paper's own.
    """

    sentence: OneLine
    where: str
    parts: Annotated[tuple[Part, ...], MinLen(1)]

    @model_validator(mode="before")
    @classmethod
    def _hand_down(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("parts"), list):
            return data
        shared = {key: data[key] for key in _SHARED if key in data}
        parts = [shared | part if isinstance(part, dict) else part for part in data["parts"]]
        own = {key: data[key] for key in data if key == "artefact" or key not in _SHARED}
        return own | {"parts": parts}

    @model_validator(mode="after")
    def _has_a_part_that_counts(self) -> Self:
        if all(part.reading for part in self.parts):
            raise ValueError(f"at least one part of '{self.id}' must have no 'reading'")
        return self


class Reference(Frozen):
    """Where the paper was published."""

    authors: Annotated[tuple[str, ...], MinLen(1)]
    title: str
    year: int
    venue: str


class Paper(Frozen):
    """A paper: its question, our interpretation of its protocol, its artefacts and claims.

    Its `name` is the name of the file and is used in the ``paper:`` entry of a spec; `short` is
    used in headings; `method` is the reducer that it proposes.
    """

    name: str
    short: str
    method: str
    reference: Reference
    asked: str
    reading: str
    artefacts: Annotated[tuple[Artefact, ...], MinLen(1)]
    claims: tuple[Claim, ...] = ()
    readings: tuple[Reading, ...] = ()

    @model_validator(mode="after")
    def _each_name_is_given_once(self) -> Self:
        for kind, names in (
            ("artefact", [artefact.id for artefact in self.artefacts]),
            ("claim", [claim.id for claim in self.claims]),
            ("part of a claim", [part.id for part in self._parts()]),
            ("printed number", [name for name, *_ in self._entries()]),
        ):
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{kind} given twice: {', '.join(repeated)}")
        return self

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        by_id = {artefact.id: artefact for artefact in self.artefacts}
        entries = self._entries()
        selected = [(name, entry.select, artefact) for name, entry, artefact in entries]
        for owner in (*self.claims, *self._parts()):
            if owner.artefact not in by_id:
                raise ValueError(f"claim '{owner.id}': there is no artefact '{owner.artefact}'")
        for part in self._parts():
            selected += [(part.id, select, by_id[part.artefact]) for select in part.selectors]
        for name, select, artefact in selected:
            if select.spec not in (None, *artefact.specs):
                message = f"selects from '{select.spec}', which is not a spec of '{artefact.id}'"
                raise ValueError(f"'{name}' {message}")
        known = {name for name, *_ in entries}
        for _, entry, _ in entries:
            if entry.same_as not in (None, *known):
                raise ValueError(f"'same_as' of '{entry.id}': there is no entry '{entry.same_as}'")
        specs = {spec for artefact in self.artefacts for spec in artefact.specs}
        for reading in self.readings:
            if unknown := {*reading.specs, *reading.specs.values()} - specs:
                name = min(unknown)
                raise ValueError(
                    f"no table or figure uses spec '{name}' of the interpretation '{reading.name}'"
                )
        return self

    def _parts(self) -> list[Part]:
        return [part for claim in self.claims for part in claim.parts]

    def _entries(self) -> list[tuple[str, PrintedNumber | TableMark, Artefact]]:
        """Return all printed numbers and ratings with their names and artefacts."""
        named = [(artefact, entry) for artefact in self.artefacts for entry in artefact.entries]
        return [(f"{artefact.id}.{entry.id}", entry, artefact) for artefact, entry in named]

    def artefact(self, name: str) -> Artefact:
        """Return the artefact called `name` (KeyError if there is none)."""
        return {artefact.id: artefact for artefact in self.artefacts}[name]


def paper_names() -> list[str]:
    """Return the names of all papers, sorted."""
    return list(paper_files())


def papers_naming(run: str) -> list[str]:
    """Return the names of the papers whose files contain a run's name; this reads all files."""
    files = paper_files().items()
    return [name for name, path in files if run in path.read_text(encoding="utf-8")]


@cache
def load_paper(name: str) -> Paper:
    """Return the paper called `name`; an `InputError` states an error in its file, and where."""
    files = paper_files()
    if name not in files:
        raise InputError(
            f"Unknown paper '{name}'.{did_you_mean(name, files)} The papers are {', '.join(files)}."
        )
    return read_paper(files[name])


def read_paper(path: Path) -> Paper:
    """Return the paper in the file at `path`; see `load_paper`."""
    paper = validated(read_document(path), Paper, "a paper")
    if paper.name != path.stem:
        raise InputError(f"{path.name} must have `name: {path.stem}` but has `name: {paper.name}`.")
    return paper


def describe_paper(name: str) -> str:
    """Return a paper's reference, question and specs as text."""
    paper = load_paper(name)
    reference = paper.reference
    head = f'{name} (paper)\n\n{", ".join(reference.authors)}, "{reference.title}", '
    head += f"{reference.venue}, {reference.year}\n\n{paper.asked.strip()}\n\nIts specs:"
    width = max(len(item.id) for item in paper.artefacts)
    lines = [f"  {item.id:<{width}}  {', '.join(item.specs)}" for item in paper.artefacts]
    return "\n".join([head, *lines])
