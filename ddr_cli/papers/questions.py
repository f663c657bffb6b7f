"""Questions about our results: the rows that a question selects, and its answer."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from annotated_types import MinLen
from pydantic import Field

from ddr_cli.core.validation import Frozen

EXACT = 1e-9
"""A tolerance for rounding, so that a difference of 1.00 points is not above one point."""


class UnansweredError(Exception):
    """Our results have no answer yet; the message gives the reason, for the table."""

    verdict: Literal["not run", "not applicable"] = "not run"


class NotApplicableError(UnansweredError):
    """The question has no meaning in this view, whatever is run."""

    verdict = "not applicable"


class NotSweptError(UnansweredError):
    """The rows have no value of the parameter that orders them."""


class Outcome(NamedTuple):
    """Whether the means meet a predicate, with the numbers, and the p-value of the intervals."""

    holds: bool
    detail: str
    p: float


class Near(Frozen):
    """A grid value: the value closest to `near`, by ratio if all are positive."""

    near: float


class MethodSelector(Frozen):
    """A method of a run: a reducer in one of its settings.

    `spec` is one of the artefact's, by default the first. `label` is the label of the reducer's
    item in the spec; it is simpler than the parameters if the spec has several items of one
    reducer. `params` holds dotted parameters (``reducer.beta``) with their values.
    """

    spec: str | None = None
    reducer: str
    label: Annotated[str, MinLen(1)] | None = None
    params: dict[str, Near | bool | int | float | str | None] = Field(default_factory=dict)


class Selector(MethodSelector):
    """The row, or the series of rows, that is selected from a run's summary.

    `classifier` is the name of a classifier or of a measure. If several rows match, `pick` "only"
    is an error; "best" takes the best mean, as a table of best cases over a tuning grid does.
    """

    classifier: str
    pick: Literal["only", "best"] = "only"


class Swap(Frozen):
    """Rows that replace others.

    `specs` maps each spec to the one that replaces it, or to itself if it holds both. It changes
    the rows of `reducers` (of all, if empty): their parameters become those stated there, their
    labels get `suffix` (None: are dropped), and the parameters of their evaluators become `params`.
    The rows of other reducers are read from `rivals`, if it names the spec.
    """

    specs: Annotated[dict[str, str], MinLen(1)]
    reducers: dict[str, dict[str, bool | int | float | str]] = Field(default_factory=dict)
    params: dict[str, bool | int | float | str] = Field(default_factory=dict)
    suffix: str | None = ""
    rivals: dict[str, str] = Field(default_factory=dict)

    def applied(self, selector: Selector, default: str) -> Selector | None:
        """Return the selector under this interpretation, None if it is unchanged."""
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
