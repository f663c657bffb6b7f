"""The components of a spec: estimators by name, each with all of its parameters and a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import MinLen
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationInfo,
    field_serializer,
)

from ddr_cli.core.errors import printable
from ddr_cli.core.own_code import display_name, is_code
from ddr_cli.core.validation import Frozen
from ddr_cli.data.card import Card, Expect
from ddr_cli.spec.estimators import Factory, Mode, load_factory, settable_names, traits_of

Text = Annotated[str, MinLen(1), AfterValidator(printable)]
Label = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(printable)
]
Params = dict[str, JsonValue]


@dataclass
class Context:
    """Facts that the validators of a document know in addition to its values.

    `base` is the folder that a card's path is relative to, `swept` has the names of the swept
    parameters, `tuned` tells whether the spec tunes, and `budgets` whether it varies the number of
    labels or of training samples. Validators add the card of the data set, and the number of
    samples of the smallest training set, in total and per class. If that size is swept,
    `most_train` is the largest.
    """

    base: Path | None = None
    swept: frozenset[str] = frozenset()
    tuned: bool = False
    budgets: bool = False
    card: Card | None = None
    expect: Expect | None = None
    n_train: int | None = None
    most_train: int | None = None
    class_sizes: Mapping[str, int] | None = None


if TYPE_CHECKING:
    Info = ValidationInfo[Context]
else:
    Info = ValidationInfo
"""The input of a document's validator: the values before its own, and the `Context`."""


class StrictFrozen(Frozen):
    """A record that also accepts no text as a number."""

    model_config = ConfigDict(strict=True)


class Component(StrictFrozen):
    """An item in a list of a spec: an estimator by its name, with all its parameters."""

    section: ClassVar[str]
    prefix: ClassVar[str]
    name: Text
    if TYPE_CHECKING:
        params: Params  # each subclass declares it, so that it comes last in JSON

    @property
    def factory(self) -> Factory:
        """The estimator's class."""
        return load_factory(self.section, self.name)

    @property
    def settable(self) -> list[str]:
        """The settings that ``--set`` and ``sweep`` may change: parameters, and a reducer's mode.

        A component that is named by its code is not imported for this: a report of someone else's
        results must not run their code.
        """
        if is_code(self.name):
            modes = ["mode"] if self.prefix == "reducer" else []
            return list(dict.fromkeys([*self.params, *getattr(self, "grids", ()), *modes]))
        return settable_names(self.section, self.name)

    def traits(self, params: Mapping[str, Any] | None = None) -> Any:
        """Return the traits that the estimator has with other parameters, or with its own."""
        return traits_of(self.section, self.factory, self.params if params is None else params)

    @field_serializer("name")
    def _without_folder(self, name: str) -> str:
        return display_name(name)


class StepSpec(Component):
    """A preprocessing step, fitted on the training set, with all its parameters."""

    section, prefix = "preprocess", "preprocess"
    params: Params = Field(default_factory=dict)


class Item(Component):
    """A component of trials: a parameter may have a grid instead of a value.

    A grid is a sweep of this item alone or, in a spec that tunes, the candidate values.
    """

    if TYPE_CHECKING:
        label: Label  # each subclass declares it, like `params`
    is_tunable: ClassVar[bool] = True
    grids: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)


class ReducerSpec(Item):
    """A reducer with all its parameters, its label, and how it embeds test samples.

    ``transductive``: with the training samples, without labels. ``out_of_sample``: by the fitted
    map.
    """

    section, prefix = "reducers", "reducer"
    mode: Mode = "out_of_sample"
    """out_of_sample: the fitted map embeds test samples. transductive: the fit embeds them."""
    label: Label = ""
    """Name in tables and figures; required if two items would otherwise have equal names."""
    params: Params = Field(default_factory=dict)


class ClassifierSpec(Item):
    """A classifier with all its parameters, and its label.

    With `only_on`, it is run only with this reducer.
    """

    section, prefix = "classifiers", "classifier"
    label: Label = ""
    """Name in tables and figures; required if two items would otherwise have equal names."""
    only_on: str = ""
    """Run this classifier only with this reducer. Default: with all reducers."""
    params: Params = Field(default_factory=dict)


class MeasureSpec(Item):
    """A measure with all its parameters; in a trial it takes the place of a classifier."""

    section, prefix = "measures", "classifier"
    is_tunable = False
    label: Label = ""
    """Name in tables and figures; required if two items would otherwise have equal names."""
    params: Params = Field(default_factory=dict)
