"""Which rows of our own results a paper's file speaks of."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MinLen
from pydantic import Field

from ddr_cli.core.models import Frozen


class Near(Frozen):
    """A place on a grid: the value closest to `near`, by ratio where all are positive."""

    near: float


Wanted = Near | bool | int | float | str | None


class MethodSelector(Frozen):
    """A method of a run: a reducer in one of its settings.

    Parameters
    ----------
    spec : str or None
        The run it is taken from, one of the artefact's `specs`; None is the first of them.
    reducer : str
        Its name as in a spec.
    label : str or None
        The label of the reducer's item as the spec writes it, which is easier than its parameters
        where several items of one reducer stand in a spec.
    params : mapping of str to value
        Dotted parameters (``reducer.beta``) and the values wanted; ``{near: 0.5}`` takes the
        closest value on the grid.
    """

    spec: str | None = None
    reducer: str
    label: Annotated[str, MinLen(1)] | None = None
    params: dict[str, Wanted] = Field(default_factory=dict)


class Selector(MethodSelector):
    """Which row, or which series of rows, of a run's summary is meant; see `MethodSelector`.

    Parameters
    ----------
    classifier : str
        The name of a classifier or of a measure.
    pick : {"only", "best"}
        What to do with several rows: "only" accepts none but a single one, "best" takes the one
        with the best mean, which is what a table of best cases over a tuning grid prints.
    """

    classifier: str
    pick: Literal["only", "best"] = "only"
