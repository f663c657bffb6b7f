"""What a question to our own results is made of: the rows that it means, and what it gives."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from annotated_types import MinLen
from pydantic import Field

from ddr_cli.core.validation import Frozen

EXACT = 1e-9
"""A difference of 1.00 points is not above one point for a rounding error."""


class UnansweredError(Exception):
    """Our results have no answer yet; the message says why, for the table."""

    verdict: Literal["not run", "not applicable"] = "not run"


class NotApplicableError(UnansweredError):
    """The question makes no sense through this view, whatever is run."""

    verdict = "not applicable"


class NotSweptError(UnansweredError):
    """The rows have no value of the parameter that orders them."""


class Outcome(NamedTuple):
    """Whether the means meet a predicate, with the numbers, and the p-value of the intervals."""

    holds: bool
    detail: str
    p: float


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


class Swap(Frozen):
    """Rows that answer in place of others.

    `specs` names for each spec the one to look at instead, itself where that holds both. It changes
    the rows of `reducers`, of all if there are none, whose parameters become those named there,
    whose labels get `suffix` (None: are dropped), and whose evaluators' parameters become `params`.
    The rows of other reducers are looked up in `rivals`, where that names the spec.
    """

    specs: Annotated[dict[str, str], MinLen(1)]
    reducers: dict[str, dict[str, bool | int | float | str]] = Field(default_factory=dict)
    params: dict[str, bool | int | float | str] = Field(default_factory=dict)
    suffix: str | None = ""
    rivals: dict[str, str] = Field(default_factory=dict)

    def applied(self, selector: Selector, default: str) -> Selector | None:
        """Return what a selector means under this reading, None if it is not changed."""
        spec = selector.spec or default
        if self.reducers and selector.reducer not in self.reducers:
            rival = self.rivals.get(spec)
            return None if rival is None else selector.model_copy(update={"spec": rival})
        if spec not in self.specs:
            return None
        params = selector.params | self.params | self.reducers.get(selector.reducer, {})
        is_kept = selector.label is not None and self.suffix is not None
        label = f"{selector.label}{self.suffix}" if is_kept else None
        changed = {"spec": self.specs[spec], "params": params, "label": label}
        return selector.model_copy(update=changed)
