"""What a paper prints: numbers with their spread and time, and marks of good and bad."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import model_validator

from ddr_cli.core.models import Frozen
from ddr_cli.papers.selectors import MethodSelector, Selector

Sign = Literal["both", "separable", "multimodal", "neither"]
"""What an embedding keeps: classes apart, the sub-classes of a merged class apart, or both."""


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


class Seconds(Frozen):
    """A printed training time.

    Machines differ, so that only ratios compare: the report sets the ratio of ours to another
    method's beside the printed one.

    Parameters
    ----------
    value : float
        Seconds per run, as printed.
    than : Selector or None
        The select of the printed number, of the same artefact, whose time this one is divided by;
        None for that one itself.
    """

    value: Annotated[float, Ge(0)]
    than: Selector | None = None


class Printed(Frozen):
    """One number that the paper prints, or one of ours in a place where it prints none.

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
    value : Quantity or None
        As printed, such as ``9.65 %`` or ``0.086``; None where the paper prints no number, which
        makes the verdict "unverifiable".
    sd : Quantity or None
        The printed standard deviation.
    seconds : Seconds or None
        The printed training time.
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
    value: Quantity | None = None
    sd: Quantity | None = None
    seconds: Seconds | None = None
    tolerance: Annotated[float, Gt(0)] | None = None
    where: str
    reading: str | None = None
    remark: str | None = None

    @model_validator(mode="after")
    def _spread_has_a_value(self) -> Printed:
        if self.value is None and (self.sd is not None or self.tolerance is not None):
            raise ValueError("'sd' and 'tolerance' go with a printed 'value', which is missing")
        return self


class PrintedMark(Frozen):
    """One mark of a table of marks.

    Parameters
    ----------
    row, column : str
        Its place in the table: the method and the data set.
    printed : {"both", "separable", "multimodal", "neither"} or None
        What the paper says that the embedding keeps; None where it says nothing.
    select : MethodSelector
        The method of ours; the run must have measured it with every measure of the thresholds.
    reading : str or None
        Which of several readings of the paper this entry follows.
    remark : str or None
        What is known of why ours differs.
    """

    row: Annotated[str, MinLen(1)]
    column: Annotated[str, MinLen(1)]
    printed: Sign | None = None
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

    Parameters
    ----------
    separability : float
        Separable from this leave-one-out accuracy, as a share of that in the original space.
    silhouette, subclass_accuracy : float
        Multimodality is kept from this silhouette of the hidden sub-classes, or from this
        leave-one-out accuracy on them.
    """

    separability: Annotated[float, Gt(0), Le(1)]
    silhouette: Annotated[float, Ge(-1), Le(1)]
    subclass_accuracy: Annotated[float, Gt(0), Le(1)]
