"""A spec after validation: complete, frozen, and plain enough to be written as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ddr_cli.core.errors import InputError
from ddr_cli.core.models import Frozen

Text = Annotated[str, MinLen(1)]
Params = dict[str, JsonValue]
Mode = Literal["transductive", "out_of_sample"]
SplitKind = Literal["predefined", "resample", "per_class", "fraction", "labelled", "whole"]

MAX_REPEATS = 100_000


class StrictFrozen(Frozen):
    """A record that also takes no text for a number."""

    model_config = ConfigDict(strict=True)


class PaperRef(StrictFrozen):
    """The artefact of a paper that a spec reproduces.

    Parameters
    ----------
    name : str
        The paper, such as ``ccdr``.
    artefact : str
        Its table or figure, such as ``fig2``.
    """

    name: Text
    artefact: Text


class DatasetRef(StrictFrozen):
    """The data set of a spec.

    Parameters
    ----------
    name : str
        Its name, or the path of a card as the spec gives it, relative to the spec.
    options : dict
        The value of every option that the card offers.
    """

    name: Text
    options: Params = Field(default_factory=dict)


class SplitSpec(StrictFrozen):
    """How the data set is divided into a training and a test part, and how often.

    Parameters
    ----------
    kind : str
        ``predefined``: the data set's own split. ``resample``: new stratified splits of the
        predefined sizes. ``per_class``: `train` points of each class. ``fraction``: the share
        `train` of all points. ``labelled``: `train` points in total, the rest unlabelled and test.
        ``whole``: all points, for measures; the repeats differ in the methods' randomness alone.
    repeats : int
        The number of random splits; 1 if predefined.
    seed : int
        The master seed.
    train : int, float or None
        The size of the training part; see `kind`.
    predefined : bool
        For ``resample``: run the predefined split too, as a line of its own.
    """

    kind: SplitKind
    repeats: Annotated[int, Ge(1), Le(MAX_REPEATS)]
    seed: Annotated[int, Ge(0)] = 0
    train: int | float | None = Field(default=None, validate_default=True)
    predefined: bool = False

    @field_validator("repeats")
    @classmethod
    def _repeats_of_kind(cls, repeats: int, info: ValidationInfo) -> int:
        if info.data.get("kind") == "predefined" and repeats != 1:
            raise ValueError(
                f"there is one predefined split, so repeats must be 1 or left out, but is {repeats}"
            )
        return repeats

    @field_validator("train")
    @classmethod
    def _train_of_kind(cls, train: float | None, info: ValidationInfo) -> float | None:
        match info.data.get("kind"):
            case "predefined" | "resample" as kind if train is not None:
                raise ValueError(f"the kind {kind} takes its sizes from the data set; drop train")
            case "whole" if train is not None:
                raise ValueError("the kind whole trains on all points; drop train")
            case "per_class" | "labelled" as kind if not isinstance(train, int) or train < 1:
                of = "each class" if kind == "per_class" else "all points"
                raise ValueError(
                    f"the kind {kind} needs train, the number of training points of {of}, "
                    f"a whole number from 1{_but_is(train)}"
                )
            case "fraction" if train is None or not 0 < train < 1:
                raise ValueError(
                    "the kind fraction needs train, the share of the training points, "
                    f"between 0 and 1{_but_is(train)}"
                )
        return train

    @field_validator("predefined")
    @classmethod
    def _predefined_of_kind(cls, predefined: bool, info: ValidationInfo) -> bool:
        kind = info.data.get("kind")
        if predefined and kind not in ("resample", None):
            raise ValueError(f"predefined: true goes with kind: resample, but the kind is {kind}")
        return predefined


def _but_is(train: float | None) -> str:
    return "" if train is None else f", but train is {train}"


class StepSpec(StrictFrozen):
    """A preprocessing step, fitted on the training part, with all its parameters."""

    name: Text
    params: Params = Field(default_factory=dict)


class ReducerSpec(StrictFrozen):
    """A reducer with all its parameters.

    Parameters
    ----------
    name : str
        Its name in the registry.
    mode : str
        How test points are embedded: ``transductive``, with the training points and unlabelled, or
        ``out_of_sample``, by the fitted map.
    label : str
        The name shown; unique in a spec.
    params : dict
        Every parameter of the estimator, defaults included.
    """

    name: Text
    mode: Mode
    label: Text
    params: Params = Field(default_factory=dict)


class ClassifierSpec(StrictFrozen):
    """A classifier with all its parameters; see `ReducerSpec`."""

    name: Text
    label: Text
    params: Params = Field(default_factory=dict)


class MeasureSpec(StrictFrozen):
    """A measure with all its parameters; see `ReducerSpec`."""

    name: Text
    label: Text
    params: Params = Field(default_factory=dict)


class EmbeddingsSpec(StrictFrozen):
    """Which embeddings are kept for a figure: those of the first split, at most three dimensions.

    Parameters
    ----------
    points : int
        How many points at most; of more, as many are drawn at random.
    """

    points: Annotated[int, Ge(10), Le(20_000)] = 1000


class PlotSpec(StrictFrozen):
    """What the figure shows.

    Parameters
    ----------
    x : str
        A swept parameter or, in a spec without a sweep, ``reducer`` or ``classifier``.
    y : str
        A metric.
    interval : float
        The level of the intervals.
    log : bool
        Whether the axis of x is logarithmic.
    """

    x: Text
    y: Text
    interval: Annotated[float, Gt(0), Lt(1)] = 0.80
    log: bool = False


class Spec(StrictFrozen):
    """An experiment, complete: nothing in it depends on a default any more.

    Parameters
    ----------
    name : str
        The stem of the spec's file, and the name of the folder of its results.
    path : Path or None
        The spec's file, to which the path of a card is relative; not part of `resolved`.
    title, description : str
        For a reader.
    paper : PaperRef or None
        What it reproduces.
    dataset, split, preprocess, reducers, classifiers, measures
        What is run; every reducer with every classifier and every measure on every split.
    sweep : dict of str to tuple
        The values of each swept parameter, ``reducer.<parameter>`` or ``classifier.<parameter>``.
    metrics : tuple of str
        What is measured.
    plot : PlotSpec
        What is drawn.
    embeddings : EmbeddingsSpec or None
        Which embeddings are kept.
    """

    name: Text
    path: Annotated[Path | None, Field(exclude=True)] = None
    title: str
    description: str = ""
    paper: PaperRef | None = None
    dataset: DatasetRef
    split: SplitSpec
    preprocess: tuple[StepSpec, ...] = ()
    reducers: Annotated[tuple[ReducerSpec, ...], MinLen(1)]
    classifiers: tuple[ClassifierSpec, ...] = ()
    measures: tuple[MeasureSpec, ...] = ()
    sweep: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    metrics: Annotated[tuple[Text, ...], MinLen(1)]
    plot: PlotSpec
    embeddings: EmbeddingsSpec | None = None

    @property
    def evaluators(self) -> tuple[ClassifierSpec | MeasureSpec, ...]:
        """What scores an embedding: the classifiers, then the measures."""
        return (*self.classifiers, *self.measures)

    @property
    def card(self) -> str | Path:
        """What to load the data set by: its name, or the path of its card."""
        name = self.dataset.name
        if not is_card_path(name) or self.path is None:
            return name
        return self.path.parent / Path(name).expanduser()

    def resolved(self) -> dict[str, Any]:
        """Return the spec as JSON has it, with all defaults filled in and no path of this machine.

        Card paths stay as the spec gives them, relative to its file.
        """
        return self.model_dump(mode="json")

    @classmethod
    def from_resolved(cls, resolved: dict[str, Any], *, path: Path | None = None) -> Spec:
        """Return the spec that `resolved` was made from.

        Parameters
        ----------
        resolved : dict
            What `Spec.resolved` returned, such as read from a manifest.
        path : Path, optional
            The spec's file.

        Raises
        ------
        InputError
            If it isn't such a dictionary.
        """
        try:
            # Through JSON, where strict validation takes arrays for tuples and still no text for
            # a number.
            spec = cls.model_validate_json(json.dumps(resolved))
        except (ValidationError, TypeError, ValueError) as error:
            first = error.errors()[0] if isinstance(error, ValidationError) else None
            place = ".".join(map(str, first["loc"])) if first else "it"
            reason = first["msg"] if first else error
            raise InputError(f"This is not a resolved spec: {place}: {reason}.") from None
        return spec.model_copy(update={"path": path})


KEYS = tuple(name for name in Spec.model_fields if name not in ("name", "path"))
"""The keys of a spec's file."""


def is_card_path(name: str) -> bool:
    """Return whether a data set is given by the path of its card instead of by name."""
    return "/" in name or name.endswith((".yaml", ".yml"))
